import { describe, expect, test } from 'bun:test'
import { onTerms, under } from '../guardrails/support'
import { readFrames } from '../support/frames'
import { createWorld, type Person } from '../support/world'

const world = await createWorld()
const ask = async (person: Person, input: object) => (await person.send('POST', 'completions', input)).body

describe('mode image of completions (docs/api.md 2.2)', () => {
  test('answers with a caption, and the picture among the artifacts', async () => {
    const ada = await world.person()
    const body = await ask(ada, { prompt: 'Draw me a picture of a red boat', mode: 'image' })
    expect(body).toMatchObject({
      resolved_mode: 'image',
      model: { id: 'svc-1-create', engine: 'svc-vision' },
      usage: { cost_cents: 0, prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    })
    expect(body.content).toBe('A local illustration of “a red boat”, drawn by rules without an image model.')
    const [artifact] = body.artifacts
    expect(artifact).toMatchObject({ type: 'image', engine: 'svc-local-vector', mime_type: 'image/png' })
    expect((await ada.send('GET', `artifacts/${artifact.id}`)).status).toBe(200)
  })

  test('auto makes a picture of what asks for one', async () => {
    const body = await ask(await world.person(), { prompt: 'draw a picture of a castle at night' })
    expect(body.resolved_mode).toBe('image')
    expect(body.artifacts).toHaveLength(1)
  })

  test('a turn that follows changes the picture before it, and one that does not makes another', async () => {
    const ada = await world.person()
    const { conversation_id } = await ask(ada, { prompt: 'an illustration of a sailboat', mode: 'image' })
    const blue = await ask(ada, { prompt: 'make it blue', conversation_id })
    expect(blue.resolved_mode).toBe('image')
    expect(blue.artifacts[0].prompt).toBe('an illustration of a sailboat. Change: make it blue.')
    const night = await ask(ada, { prompt: 'now at night', mode: 'image', conversation_id })
    expect(night.artifacts[0].prompt).toBe('an illustration of a sailboat. Change: make it blue. Change: now at night.')
    expect((await ask(ada, { prompt: 'a cat', mode: 'image', conversation_id })).artifacts[0].prompt).toBe('a cat')
    const inline = [
      { role: 'user', content: 'a dog' },
      { role: 'assistant', content: 'Here.', mode: 'image' },
    ]
    const sent = await ask(ada, { prompt: 'make it green', mode: 'image', conversation: { messages: inline } })
    expect(sent.artifacts[0].prompt).toBe('a dog. Change: make it green.')
  })

  test('a conversation that is read has links that work now, and none to what was deleted', async () => {
    const ada = await world.person()
    const { conversation_id, artifacts } = await ask(ada, { prompt: 'a tent', mode: 'image' })
    const read = async () =>
      (await ada.send('GET', `conversations/${conversation_id}`)).body.conversation.messages[1].artifacts[0]
    const shown = await read()
    expect(shown).toMatchObject({ id: artifacts[0].id, type: 'image' })
    expect((await world.download(shown.url)).status).toBe(200)
    await ada.send('DELETE', `artifacts/${artifacts[0].id}`)
    expect(await read()).toMatchObject({ id: artifacts[0].id, url: null, url_expires_at: null })
  })

  test('image_quality and image_model are used, and an identical request is served from the cache', async () => {
    const ada = await world.person()
    const input = { prompt: 'a mushroom', mode: 'image', image_quality: 'draft', image_model: 'svc-1-design' }
    const body = await ask(ada, input)
    expect(body.artifacts[0]).toMatchObject({ width: 512, height: 512, model: 'svc-1-design' })
    expect(await ask(ada, input)).toMatchObject({ _cached: true, artifacts: [{ id: body.artifacts[0].id }] })
  })

  test('a stream shows the caption and then the picture', async () => {
    const ada = await world.person()
    const { text } = await ada.send('POST', 'completions', { prompt: 'an owl', mode: 'image', stream: true })
    const frames = readFrames(text)
    expect(frames.map(({ event }) => event)).toEqual(['meta', 'token', 'artifact', 'done'])
    expect(frames[2]!.data).toMatchObject({ type: 'image', mime_type: 'image/png' })
  })

  test('stealth_image keeps no conversation and no prompt, and takes its aspect', async () => {
    const ada = await world.person()
    const input = { prompt: 'a hidden valley', mode: 'stealth_image', stealth_aspect: 'wide' }
    const body = await ask(ada, input)
    expect(body).toMatchObject({ resolved_mode: 'stealth_image', conversation_id: null })
    expect(body.artifacts[0]).toMatchObject({ prompt: null, width: 1344, height: 756 })
    expect((await ask(ada, input))._cached).toBeUndefined()
  })

  test('a policy that redacts the prompt redacts it before it is drawn', async () => {
    const ada = await world.person()
    await under(ada, [onTerms('input', 'redact', ['zeppelin'])])
    const body = await ask(ada, { prompt: 'a zeppelin over a city', mode: 'image' })
    expect(body.artifacts[0].prompt).toBe('a [REDACTED:blocked_term] over a city')
    expect(JSON.stringify(body)).not.toContain('zeppelin over')
  })

  test('a chat with the image model gets the picture in svc_metadata', async () => {
    const ada = await world.person()
    const messages = [{ role: 'user', content: 'a turtle' }]
    const { body } = await ada.send('POST', 'chat/completions', { model: 'svc-1-create', messages })
    expect(body.choices[0].message.content).toContain('a turtle')
    expect(body.svc_metadata.artifacts[0]).toMatchObject({ type: 'image' })
  })
})
