// SQLite only: chat only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { listen } from '../../support/listening'
import { PIXEL } from '../../support/pixel'
import { createUpstreamWorld, freshPrompt } from '../upstream-world'

const { world, upstream } = await createUpstreamWorld()
const { baseUrl } = listen(world)
const ada = await world.person()
const client = new OpenAI({ baseURL: baseUrl, apiKey: ada.key, maxRetries: 0 })

type Message = OpenAI.ChatCompletionMessageParam
const DOT = `data:image/png;base64,${PIXEL}`
const picture = (url = DOT) => ({ type: 'image_url' as const, image_url: { url } })
const words = (text: string) => ({ type: 'text' as const, text })
const user = (...content: OpenAI.ChatCompletionContentPart[]): Message => ({ role: 'user', content })
const assistant = (content: string): Message => ({ role: 'assistant', content })

const sent = () => (upstream.calls.at(-1)!.body.messages as { role: string; content: unknown }[]).slice(1)
type Answer = OpenAI.ChatCompletion & { svc_metadata: { resolved_mode: string; warnings?: string[] } }
const chat = async (messages: Message[], more: object = {}) =>
  (await client.chat.completions.create({ model: 'svc-1-auto', messages, ...more })) as OpenAI.ChatCompletion as Answer

describe('images of earlier turns', () => {
  test.each(['svc-1-auto', 'svc-1-vision'])('are seen by %s, each in its place', async (model) => {
    const question = freshPrompt('What colour is it?')
    const { svc_metadata } = await chat(
      [user(words('What is this?'), picture()), assistant('A dot.'), user(words(question))],
      { model },
    )
    expect(svc_metadata).toMatchObject({ resolved_mode: 'vision' })
    expect(svc_metadata.warnings).toBeUndefined()
    expect(sent()).toEqual([
      { role: 'user', content: [picture(), words('What is this?')] },
      { role: 'assistant', content: 'A dot.' },
      { role: 'user', content: question },
    ])
  })

  test('without a word are turns, too', async () => {
    const question = freshPrompt()
    await chat([user(picture()), user(words('one')), user(picture(), words(question))])
    expect(sent()).toEqual([
      { role: 'user', content: [picture()] },
      { role: 'user', content: 'one' },
      { role: 'user', content: [picture(), words(question)] },
    ])
  })

  test('are seen among calls of functions', async () => {
    const call = { id: 'c', type: 'function' as const, function: { name: 'zoom', arguments: '{}' } }
    await chat(
      [
        user(picture()),
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c', content: 'done' },
        user(words(freshPrompt())),
      ],
      { tools: [{ type: 'function', function: { name: 'zoom' } }] },
    )
    expect(sent()[0]).toEqual({ role: 'user', content: [picture()] })
  })

  test('follow those that a conversation keeps', async () => {
    const { conversation_id } = (await ada.send('POST', 'completions', { prompt: freshPrompt('stored') })).body
    await chat([user(picture()), assistant('yes'), user(words(freshPrompt()))], { conversation_id })
    expect(sent()[2]).toEqual({ role: 'user', content: [picture()] })
  })

  test('beyond the newest ten are left out, which is said', async () => {
    const many = Array.from({ length: 12 }, (_, at) => user(picture(`${DOT.slice(0, -2)}${at % 10}=`)))
    const { svc_metadata } = await chat([...many, user(words(freshPrompt()))])
    expect(svc_metadata.warnings).toEqual(['Only the newest 10 images were used; 2 before them were left out.'])
    expect(sent()).toHaveLength(11)
  })
})

describe('a model without vision', () => {
  const IGNORED = 'The images were ignored: svc-1-flash does not accept images. Use "svc-1-vision".'

  test('says that it was sent some', async () => {
    const question = freshPrompt()
    const { svc_metadata } = await chat([user(picture()), user(picture(), words(question))], { model: 'svc-1-flash' })
    expect(svc_metadata.warnings).toEqual([IGNORED])
    expect(sent()).toEqual([{ role: 'user', content: question }])
  })

  test('says so at the end of a stream', async () => {
    const stream = await client.chat.completions.create({
      model: 'svc-1-flash',
      messages: [user(picture(), words(freshPrompt()))],
      stream: true,
    })
    const chunks = (await Array.fromAsync(stream)) as { svc_metadata?: { warnings?: string[] } }[]
    expect(chunks.at(-1)!.svc_metadata!.warnings).toEqual([IGNORED])
  })

  test.each(['nope', 'http://127.0.0.1:9/a.png', 'http://user:pw@10.0.0.1/a.png', 'file:///etc/passwd'])(
    'refuses the address %s all the same',
    async (url) => {
      for (const model of ['svc-1-flash', 'svc-1-vision']) {
        const error = await chat([user(words('x'), picture(url)), user(words(freshPrompt()))], { model }).catch(
          (thrown: unknown) => thrown,
        )
        expect(error).toBeInstanceOf(OpenAI.BadRequestError)
        expect(error).toMatchObject({ code: 'url_blocked', param: 'messages[0].content[1].image_url.url' })
      }
    },
  )
})

test('an image that is too large is named by its part', async () => {
  const url = `data:image/png;base64,${Buffer.alloc(15 * 1024 * 1024 + 1).toString('base64')}`
  const error = await chat([user(words('x'), picture(), picture(url))]).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ status: 400, param: 'messages[0].content[2].image_url.url' })
})
