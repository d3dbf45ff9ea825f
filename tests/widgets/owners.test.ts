import { afterAll, expect, test } from 'bun:test'
import { sanitiseCss } from '../../src/widgets/groups'
import { eventually } from '../support/eventually'
import { startUpstream } from '../support/upstream'
import { createWidgetWorld } from './world'

const upstream = await startUpstream()
afterAll(() => upstream.stop())
const world = await createWidgetWorld({ config: { engineBaseUrl: upstream.url, engineModel: 'scripted' } })
const { widget, begin, say, transcript } = world

test('an answer under way is stopped and neither shown nor billed when a person takes over (I36)', async () => {
  const { id, owner } = await widget({ behavior: { mode: 'fast' } })
  const before = (await owner.send('GET', 'usage')).body
  for (const stream of [false, true]) {
    const chat = await begin(id)
    const request = say(chat, `${stream} [[hang]]`, { stream })
    await eventually(() => upstream.calls.some(({ prompt }) => prompt.includes(`${stream} [[hang]]`)))
    await transcript(owner, chat)('POST', '/takeover')
    expect((await request).text).toContain('"reply":null')
    const { body } = await transcript(owner, chat)('GET')
    expect(body.messages.map(({ role }: { role: string }) => role)).toEqual(['user'])
  }
  const after = (await owner.send('GET', 'usage')).body
  expect(after.totals?.cost_cents ?? 0).toBe(before.totals?.cost_cents ?? 0)
})

test('a message whose answer failed is kept, and the same words again are the same message', async () => {
  const { id, owner } = await widget({ behavior: { mode: 'fast' } })
  const chat = await begin(id)
  expect((await say(chat, 'please [[fail:9]]')).status).toBeGreaterThanOrEqual(500)
  const stored = async () => (await transcript(owner, chat)('GET')).body.messages
  expect(await stored()).toHaveLength(1)
  await say(chat, 'please [[fail:9]]')
  expect(await stored()).toHaveLength(1)
})

test.each([
  '@import url(//evil.example/x.css);',
  'a { background: url(https://evil.example/x) }',
  'a { background: u\\72l(https://evil.example/x) }',
  'a { background: u/**/rl(x); background: \\75\\72\\6c(x) }',
  'a { width: expression(alert(1)) }',
  'a { -moz-binding: url(x); behavior: url(x) }',
  'a::after { content: "</style><script>alert(1)</script>" }',
  '@font-face { font-family: x; src: url(x) }',
  'form:has(input[value^="a"]) { display: none }',
  'form:h\\61s(/**/ textarea:valid) { --evil: 1 }',
  '[value^="a"] { --evil: 1 }',
])('CSS that loads or runs something is taken out: %s', (css) => {
  expect(sanitiseCss(css)).not.toMatch(/evil|url\(|expression|script|behavior|binding|font-face|:has|value|\\7/i)
})

test('CSS that arranges stays', () => {
  const css = '@media (min-width: 20em) { .message { color: red; padding: 1px 2px } }'
  expect(sanitiseCss(css)).toBe(css)
  expect(() => sanitiseCss('a { color')).toThrow('not CSS')
})

test('what is no CSS is refused in a short sentence, whatever was sent', () => {
  expect(() => sanitiseCss('a'.repeat(20_000))).toThrow(/^.{20,250}$/)
})

test('groups merge member by member, and the white label needs a plan', async () => {
  const free = await world.person({ tier: 'free' })
  const { id } = await widget({ appearance: { title: 'Hats' } }, free)
  const label = await free.send('PATCH', `iframes/${id}`, { appearance: { hideBranding: true } })
  expect({ status: label.status, code: label.body.error.code }).toEqual({ status: 403, code: 'forbidden' })
  const { body } = await free.send('PATCH', `iframes/${id}`, { appearance: { theme: 'dark' } })
  expect(body.appearance).toMatchObject({ title: 'Hats', theme: 'dark' })
  expect((await free.send('PATCH', `iframes/${id}`, { security: { requireTurnstile: true } })).status).toBe(400)
  const foreign = await free.send('PATCH', `iframes/${id}`, { api_key_id: (await world.person()).keyId })
  expect({ status: foreign.status, param: foreign.body.error.param }).toEqual({ status: 404, param: 'api_key_id' })
  expect((await free.send('GET', `iframes/${id}/analytics`)).body.totals).toMatchObject({ sessions: 0, csat: null })
  const reversed = await free.send('GET', `iframes/${id}/analytics?from=2999-01-01`)
  expect({ status: reversed.status, param: reversed.body.error?.param }).toEqual({ status: 400, param: 'from' })
})

test('a list counts the sessions of each widget on request', async () => {
  const owner = await world.person()
  const listed = async (query: string) =>
    (await owner.send('GET', `iframes${query}`)).body.configs.map(({ sessions }: { sessions?: number }) => sessions)
  expect(await listed('?sessions_from=2020-01-01')).toEqual([])
  const { id } = await widget({}, owner)
  await widget({}, owner)
  await begin(id)
  expect(await listed('?sessions_from=2020-01-01')).toEqual([0, 1])
  expect(await listed('?sessions_from=2999-01-01')).toEqual([0, 0])
  expect(await listed('')).toEqual([undefined, undefined])
})

test('members that a group does not declare are not stored', async () => {
  const groups = ['appearance', 'behavior', 'security', 'intents'].map((group) => [group, { note: 'n-5512' }])
  const ada = await world.person()
  const { status, text } = await ada.send('POST', 'iframes', { api_key_id: ada.keyId, ...Object.fromEntries(groups) })
  expect(status).toBe(201)
  expect(text).not.toContain('n-5512')
})
