import { describe, expect, test } from 'bun:test'
import { createWorld, type Person } from '../../support/world'

const world = await createWorld()
const PROMPT = 'zebra, what is the capital of Peru?'
const to = (target_mode: string, more: object = {}) => ({ pattern: 'zebra', target_mode, confidence: 0.95, ...more })
const ask = (who: Person, body: object = {}) =>
  who.send('POST', 'completions', { prompt: PROMPT, mode: 'auto', conversation_id: null, ...body })
const prefer = async (who: Person, body: object): Promise<string> =>
  (await who.send('POST', 'routing-preferences', { name: 'Mine', ...body })).body.id
const bind = (who: Person, id: string | null) =>
  who.send('PUT', `keys/${who.keyId}/routing-preference`, { routing_preference_id: id })
const bindRules = (who: Person, rules: object[], more: object = {}) =>
  who.send('PUT', `keys/${who.keyId}/routing-rules`, { rules, ...more })

describe('what decides in auto (docs/api.md 13)', () => {
  test('nothing configured: the classifier alone', async () => {
    const { body } = await ask(await world.person())
    expect(body).toMatchObject({ resolved_mode: 'fast', routing: { source: 'local', preference_id: null } })
  })

  test('the default of the owner, then a bound preference in its place, then rules of the key before both', async () => {
    const ada = await world.person()
    const byDefault = await prefer(ada, { rules: [to('think')], is_default: true })
    expect((await ask(ada)).body).toMatchObject({
      resolved_mode: 'think',
      routing: { source: 'rule', confidence: 0.95, preference_id: byDefault, fallback_used: false },
    })
    const bound = await prefer(ada, { rules: [to('roast', { description: 'Zebras are funny' })] })
    await bind(ada, bound)
    expect((await ask(ada)).body).toMatchObject({
      resolved_mode: 'roast',
      routing: { preference_id: bound, reasoning: 'Zebras are funny' },
    })
    await bindRules(ada, [to('code')])
    expect((await ask(ada)).body).toMatchObject({
      resolved_mode: 'code',
      routing: { source: 'rule', preference_id: null },
    })
    await bindRules(ada, [])
    expect((await ask(ada)).body.resolved_mode).toBe('roast')
    await bind(ada, null)
    expect((await ask(ada)).body.resolved_mode).toBe('think')
    await ada.send('DELETE', `routing-preferences/${byDefault}`)
    expect((await ask(ada)).body.resolved_mode).toBe('fast')
  })

  test('a rule of the key that does not match leaves it to the preference', async () => {
    const ada = await world.person()
    await bind(ada, await prefer(ada, { rules: [to('roast')] }))
    await bindRules(ada, [to('code', { pattern: 'giraffe' })])
    expect((await ask(ada)).body.resolved_mode).toBe('roast')
  })

  test('a preference that is bound takes the place of the default altogether', async () => {
    const ada = await world.person()
    await prefer(ada, { rules: [to('think')], is_default: true })
    await bind(ada, await prefer(ada, { rules: [] }))
    expect((await ask(ada)).body.resolved_mode).toBe('fast')
  })

  test('the default of a team is for keys of that team, and a personal one for personal keys', async () => {
    const org = await world.person({ ofOrg: true })
    await prefer(org, { rules: [to('code')], is_default: true })
    expect((await ask(org)).body.resolved_mode).toBe('code')
    expect((await ask(await world.person())).body.resolved_mode).toBe('fast')
  })

  test('an explicit mode is never touched', async () => {
    const ada = await world.person()
    await prefer(ada, { rules: [to('think')], is_default: true })
    const { body } = await ask(ada, { mode: 'code' })
    expect(body).toMatchObject({ resolved_mode: 'code', routing: { source: 'explicit', preference_id: null } })
  })
})

describe('rules', () => {
  test('are asked in their order, in any case', async () => {
    const ada = await world.person()
    await prefer(ada, { rules: [to('roast', { pattern: 'PERU' }), to('think')], is_default: true })
    expect((await ask(ada)).body.resolved_mode).toBe('roast')
  })

  test('below the floor of their mode are passed over', async () => {
    const ada = await world.person()
    const floors = { confidence_floor_overrides: { roast: 0.99 } }
    await prefer(ada, { rules: [to('roast'), to('think')], ...floors, is_default: true })
    expect((await ask(ada)).body.resolved_mode).toBe('think')
  })

  test('of little confidence count where the floor is lowered for them', async () => {
    const ada = await world.person()
    const id = await prefer(ada, { rules: [to('roast', { confidence: 0.6 })], is_default: true })
    expect((await ask(ada)).body.resolved_mode).toBe('fast')
    await ada.send('PATCH', `routing-preferences/${id}`, { confidence_floor_overrides: { roast: 0.6 } })
    expect((await ask(ada)).body.resolved_mode).toBe('roast')
  })

  test('may name the engine, which the request may still overrule', async () => {
    const ada = await world.person()
    await prefer(ada, { rules: [to('think', { target_engine: 'svc-1-code' })], is_default: true })
    expect((await ask(ada)).body.model.id).toBe('svc-1-code')
    const overrides = { model_overrides: { think: 'svc-1-flash' } }
    expect((await ask(ada, overrides)).body.model.id).toBe('svc-1-flash')
  })

  test('see the whole prompt, and its end is no other than that (docs/api.md 13)', async () => {
    const ada = await world.person()
    await prefer(ada, { rules: [to('roast', { pattern: 'zebra$' })], is_default: true })
    // Short enough for the event loop, where no other work takes from a rule's time.
    const long = 'word '.repeat(2_000)
    const modeOf = async (prompt: string) => {
      const { body } = await ask(ada, { prompt })
      expect(body.warnings).toBeUndefined()
      return body.resolved_mode
    }
    expect(await modeOf(`${long}zebra`)).toBe('roast')
    expect(await modeOf(`${long}zebra ${long}`)).not.toBe('roast')
    for (const chars of [4_096, 8_192, 10_000]) {
      expect(await modeOf(`${'a '.repeat(chars).slice(0, chars - 5)}zebra and more`)).not.toBe('roast')
    }
  })
})

describe('what routing says', () => {
  test('is in the first and the last frame of a stream', async () => {
    const ada = await world.person()
    const preference_id = await prefer(ada, { rules: [to('think')], is_default: true })
    const { text } = await ask(ada, { stream: true })
    const frames = text.split('\n\n').filter((frame) => /^event: (meta|done)/.test(frame))
    expect(frames).toHaveLength(2)
    for (const frame of frames) {
      const data = JSON.parse(frame.slice(frame.indexOf('data: ') + 6))
      expect(data.routing).toMatchObject({ source: 'rule', preference_id })
    }
  })

  test('holds for chat clients too', async () => {
    const ada = await world.person()
    await prefer(ada, { rules: [to('think', { target_engine: 'svc-1-code' })], is_default: true })
    const { body } = await ada.send('POST', 'chat/completions', { messages: [{ role: 'user', content: PROMPT }] })
    expect(body.svc_metadata).toMatchObject({ resolved_mode: 'think', routing: { source: 'rule', confidence: 0.95 } })
    expect(body.model).toBe('svc-1-code')
  })

  test('an answer is not remembered past a change of the preference (docs/api.md 22.1)', async () => {
    const ada = await world.person()
    const id = await prefer(ada, { rules: [to('think')], is_default: true })
    expect((await ask(ada)).body._cached).toBeUndefined()
    expect((await ask(ada)).body._cached).toBe(true)
    await ada.send('PATCH', `routing-preferences/${id}`, { rules: [to('roast')] })
    const after = (await ask(ada)).body
    expect(after.resolved_mode).toBe('roast')
    expect(after._cached).toBeUndefined()
  })
})
