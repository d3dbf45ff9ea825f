// SQLite only: what a picture of a response shows, which no database sees.
import { expect, test } from 'bun:test'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { responses } from './formats'

const { world, upstream } = await createUpstreamWorld()
const ada = await world.person()

const CALL = '[[plan:generate_image{"prompt":"A red kite"}]] [[say:Here it is.]]'
const tools = [{ type: 'image_generation', size: '1024x1536', quality: 'low' }]
const respond = (words: string, more: object = {}) =>
  ada.send('POST', '/v1/responses', { model: 'svc-1-flash', input: freshPrompt(words), tools, ...more })
const done = (text: string) => JSON.parse(/event: response\.completed\ndata: (.+)/.exec(text)![1]!).response

test('a picture that was asked for is an item with its bytes (docs/api.md 29.5, 29.6)', async () => {
  const { status, body } = await respond(CALL)
  expect({ status, error: body.error }).toEqual({ status: 200, error: null })
  const [picture, message] = body.output
  expect(picture).toEqual({
    ...{ id: expect.stringMatching(/^ig_\w{24}$/), type: 'image_generation_call', status: 'completed' },
    ...{ revised_prompt: 'A red kite', result: expect.any(String) },
  })
  expect(message.content[0].text).toBe('Here it is.')
  expect((await ada.send('GET', `responses/${body.id}`)).body.output).toEqual(body.output)
  // The next turn knows of it, and is not sent it as text.
  await respond('And?', { previous_response_id: body.id })
  const sent = JSON.stringify(upstream.calls.at(-1)!.body.messages)
  expect(sent).toContain('Made a picture. A red kite')
  expect(sent).not.toContain(picture.result)
})

test('it streams, and is shown again as it was', async () => {
  const { text } = await respond(CALL, { stream: true })
  responses.readStream(text)
  const steps = [...text.matchAll(/event: response\.image_generation_call\.(\w+)/g)].map(([, step]) => step)
  expect(steps as unknown[]).toEqual(['in_progress', 'generating', 'completed'])
  const response = done(text)
  expect(response.output[0].result).toEqual(expect.any(String))
  expect(done((await ada.send('GET', `responses/${response.id}?stream=true`)).text).output).toEqual(response.output)
})

test('it may be demanded, and is not offered where the choice is none', async () => {
  await respond('Hi', { tool_choice: { type: 'image_generation' } })
  expect(upstream.calls.at(-1)!.body.tool_choice).toEqual({ type: 'function', function: { name: 'generate_image' } })
  await respond('Hi', { tool_choice: 'none' })
  expect(upstream.calls.at(-1)!.body.tools).toBeUndefined()
})

test('in a conversation it is kept without its bytes, which are a file', async () => {
  const { body: conversation } = await ada.send('POST', '/v1/conversations', {})
  const { body } = await respond(CALL, { conversation: conversation.id })
  const { body: items } = await ada.send('GET', `/v1/conversations/${conversation.id}/items?order=asc`)
  const kept = items.data.find(({ type }: { type: string }) => type === 'image_generation_call')
  expect(kept).toMatchObject({ id: body.output[0].id, result: null, revised_prompt: 'A red kite' })
})
