import { describe, expect, test } from 'bun:test'
import { createWorld } from '../../support/world'
import { createTeam } from '../orgs/team'

const world = await createWorld({ config: { signup: 'open' } })
const DEFAULTS = {
  default_mode: 'auto',
  personality: 'svc',
  timezone: 'UTC',
  svc_branding: true,
  keep_bodies: false,
  keep_bodies_days: 7,
  shortcuts: true,
}

const bare = ({ request_id, ...settings }: Record<string, unknown>) => settings

describe('/settings', () => {
  test('answers the defaults, and then what was changed', async () => {
    const ada = await world.person()
    expect(bare((await ada.send('GET', 'settings')).body)).toEqual(DEFAULTS)
    const changed = await ada.send('PATCH', 'settings', { timezone: 'Europe/Lisbon' })
    expect(changed.status).toBe(200)
    expect(bare(changed.body)).toEqual({ ...DEFAULTS, timezone: 'Europe/Lisbon' })
    expect(bare((await ada.send('GET', 'settings')).body)).toEqual(bare(changed.body))
    expect(bare((await ada.send('PATCH', 'settings', {})).body)).toEqual(bare(changed.body))
  })

  test('is for a key of any scope and for a session, and is the same for all of them', async () => {
    for (const scope of ['completions', 'skills', 'tools', 'connectors', 'billing'] as const) {
      const person = await world.person({ scopes: [scope] })
      expect((await person.send('PATCH', 'settings', { personality: 'none' })).body.personality).toBe('none')
    }
    const { body } = await world.send('POST', 'auth/signup', { email: 's@example.com', password: 'correct horse' })
    const session = { authorization: `Bearer ${body.session_token}` }
    const { body: key } = await world.send('POST', 'keys', {}, session)
    await world.send('PATCH', 'settings', { default_mode: 'think' }, session)
    const byKey = await world.send('GET', 'settings', undefined, { authorization: `Bearer ${key.key}` })
    expect(byKey.body.default_mode).toBe('think')
  })

  test("is changed by nobody who holds an organization's key, though they may read it", async () => {
    const team = await createTeam(world)
    const key = await team.orgKey(team.owner)
    const refused = await key.send('PATCH', 'settings', { default_mode: 'think' })
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 403, code: 'forbidden' })
    expect(refused.body.error.message).toContain('personal key')
    expect(bare((await key.send('GET', 'settings')).body)).toEqual(DEFAULTS)
  })

  test('reaches the answers: the mode, and the branding of the reply', async () => {
    const ada = await world.person()
    const labelOf = async () => {
      const { body } = await ada.send('POST', 'completions', { prompt: 'hi' })
      return { mode: body.mode ?? body.resolved_mode, text: JSON.stringify(body.model) }
    }
    const branded = await labelOf()
    await ada.send('PATCH', 'settings', { default_mode: 'code', svc_branding: false })
    expect((await labelOf()).mode).toBe('code')
    expect(branded.mode).not.toBe('code')
  })

  test('takes nothing that is not a setting (E4)', async () => {
    const ada = await world.person({ tier: 'free' })
    const greedy = { balance_cents: 999_999, tier: 'pro', role: 'owner', email_verified: true, user_id: 'x' }
    const { status, body } = await ada.send('PATCH', 'settings', greedy)
    expect({ status, bare: bare(body) }).toEqual({ status: 200, bare: DEFAULTS })
    expect((await ada.send('GET', 'rate-limits')).body.tier).toBe('free')
  })

  const refusals: [string, unknown, string | null][] = [
    ['a mode that is none', { default_mode: 'turbo' }, 'default_mode'],
    ['a mode nobody may default to', { default_mode: 'vision' }, 'default_mode'],
    ['a personality that is none', { personality: 'pirate' }, 'personality'],
    ['a zone of nowhere', { timezone: 'Mars/Olympus' }, 'timezone'],
    ['an offset', { timezone: '+02:00' }, 'timezone'],
    ['an empty zone', { timezone: '' }, 'timezone'],
    ['a zone that is null', { timezone: null }, 'timezone'],
    ['branding in words', { svc_branding: 'no' }, 'svc_branding'],
    ['branding as a number', { svc_branding: 0 }, 'svc_branding'],
    ['a list', '[]', null],
    ['what is not JSON', '{', null],
  ]
  test.each(refusals)('refuses %s, and changes nothing', async (_why, body, param) => {
    const ada = await world.person()
    const refused = await ada.send('PATCH', 'settings', body)
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 400, code: 'validation_error' })
    if (param) expect(refused.body.error.param).toBe(param)
    expect(bare((await ada.send('GET', 'settings')).body)).toEqual(DEFAULTS)
  })

  test.each(['GET', 'PATCH'])('%s needs a credential', async (method) => {
    const { status, body } = await world.send(method, 'settings', method === 'PATCH' ? {} : undefined)
    expect({ status, code: body.error.code }).toEqual({ status: 401, code: 'invalid_api_key' })
  })
})
