import { expect, test } from 'bun:test'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { operatorSender } from '../operators/support'

const config = {
  modelAliases: { 'gpt-*': { engine: 'svc-1-flash' }, 'claude-opus': { engine: 'svc-1-reason', listed: true } },
}
const { world } = await createUpstreamWorld({ config })
const ada = await world.person()
const operate = operatorSender(world)

/** The engine that answers a model name on each API, and what is said of that. */
async function engineOf(model: string) {
  const messages = [{ role: 'user', content: freshPrompt() }]
  const [chat, response, message] = await Promise.all([
    ada.send('POST', 'chat/completions', { model, messages }),
    ada.send('POST', 'responses', { model, input: freshPrompt() }),
    ada.send('POST', 'messages', { model, max_tokens: 100, messages }),
  ])
  const metadata = [chat.body.svc_metadata ?? chat.body.svc, response.body.svc_metadata, message.body.svc_metadata]
  return {
    engines: [chat.body.model, response.body.model, message.body.model],
    warned: metadata.map((one) => Boolean(one?.warnings?.some((text: string) => text.includes('"model"')))),
  }
}

test('an alias stands for an engine in every client format, without a warning (docs/api.md 32.2)', async () => {
  for (const [model, engine] of [
    ['gpt-4.1-mini', 'svc-1-flash'],
    ['claude-opus', 'svc-1-reason'],
    ['svc-1-code', 'svc-1-code'],
  ] as const)
    expect(await engineOf(model)).toEqual({ engines: [engine, engine, engine], warned: [false, false, false] })
  expect((await engineOf('mistral')).warned).toEqual([true, true, true])
})

test('a longer beginning goes first, an exact name before it, and changes count at once', async () => {
  const set = (name: string, engine: string) => operate('PUT', 'engines/aliases', { name, engine })
  await set('gpt-5*', 'svc-1-code')
  await set('gpt-5-mini', 'svc-1-reason')
  expect((await engineOf('gpt-5')).engines).toEqual(Array(3).fill('svc-1-code'))
  expect((await engineOf('gpt-5-mini')).engines).toEqual(Array(3).fill('svc-1-reason'))
  expect((await engineOf('gpt-4')).engines).toEqual(Array(3).fill('svc-1-flash'))
  expect((await operate('GET', 'engines/aliases')).body.aliases).toEqual([
    { name: 'gpt-*', engine: 'svc-1-flash', listed: false, set_in: 'modelAliases' },
    { name: 'claude-opus', engine: 'svc-1-reason', listed: true, set_in: 'modelAliases' },
    { name: 'gpt-5*', engine: 'svc-1-code', listed: false, set_in: 'database' },
    { name: 'gpt-5-mini', engine: 'svc-1-reason', listed: false, set_in: 'database' },
  ])
  expect((await operate('DELETE', `engines/aliases/${encodeURIComponent('gpt-5*')}`)).status).toBe(200)
  expect((await engineOf('gpt-5')).engines).toEqual(Array(3).fill('svc-1-flash'))
  expect((await operate('DELETE', 'engines/aliases/claude-opus')).status).toBe(404)
  expect((await set('x', 'svc-9')).status).toBe(400)
  expect((await operate('PUT', 'engines/aliases', { name: 'a*', engine: 'svc-1-flash', listed: true })).status).toBe(
    400,
  )
  expect((await set('a*b', 'svc-1-flash')).status).toBe(400)
})

test('a listed alias is in GET /models', async () => {
  const { data, last_id } = (await ada.send('GET', 'models')).body
  expect(data.at(-1)).toMatchObject({ id: 'claude-opus', display_name: 'Svc Reason' })
  expect(last_id).toBe('claude-opus')
  expect((await ada.send('GET', 'models/claude-opus')).body).toMatchObject({
    id: 'claude-opus',
    model_id: 'svc-1-reason',
  })
  expect((await ada.send('GET', 'models/gpt-4')).status).toBe(404)
})

test('a model of vectors is no model of a chat', async () => {
  const messages = [{ role: 'user', content: 'Hi' }]
  const { status, body } = await ada.send('POST', 'chat/completions', { model: 'svc-1-embed', messages })
  expect({ status, param: body.error.param }).toEqual({ status: 400, param: 'model' })
  expect(body.error.message).toContain('/embeddings')
})
