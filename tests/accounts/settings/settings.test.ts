import { describe, expect, test } from 'bun:test'
import { refusals } from '../../support/refusals'
import { createWorld, type Person } from '../../support/world'
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
const read = async (person: Pick<Person, 'send'>) => bare((await person.send('GET', 'settings')).body)
const change = async (person: Person, patch: object) => {
  const { status, body } = await person.send('PATCH', 'settings', patch)
  return { status, settings: bare(body) }
}

describe('/settings', () => {
  test('answers the defaults, and then what was changed, on the record, and each has their own', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    expect(await read(ada)).toEqual(DEFAULTS)
    const first = { ...DEFAULTS, timezone: 'Europe/Lisbon' }
    expect(await change(ada, { timezone: 'Europe/Lisbon' })).toEqual({ status: 200, settings: first })
    expect(await read(ada)).toEqual(first)
    const second = { ...first, svc_branding: false, default_mode: 'think' }
    expect((await change(ada, { svc_branding: false, default_mode: 'think' })).settings).toEqual(second)
    expect(await read(ada)).toEqual(second)
    const { body: rows } = await ada.send('GET', 'audit?action=settings.updated')
    expect(rows).toHaveLength(2)
    expect((await change(ada, {})).settings).toEqual(second)
    expect(await read(eve)).toEqual(DEFAULTS)
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
    const byKey = await world.byKey(key.key).send('GET', 'settings')
    expect(byKey.body.default_mode).toBe('think')
  })

  test("is changed by nobody who holds an organization's key, though they may read it", async () => {
    const team = await createTeam(world)
    const key = await team.orgKey(team.owner)
    const refused = await key.send('PATCH', 'settings', { default_mode: 'think' })
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 403, code: 'forbidden' })
    expect(refused.body.error.message).toContain('personal key')
    expect(await read(key)).toEqual(DEFAULTS)
  })

  test('reaches the answers: the mode', async () => {
    const ada = await world.person()
    const modeOf = async () => {
      const { body } = await ada.send('POST', 'completions', { prompt: 'hi' })
      return body.mode ?? body.resolved_mode
    }
    expect(await modeOf()).not.toBe('code')
    await ada.send('PATCH', 'settings', { default_mode: 'code', svc_branding: false })
    expect(await modeOf()).toBe('code')
  })

  test('takes nothing that is not a setting (E4)', async () => {
    const ada = await world.person({ tier: 'free' })
    const greedy = { balance_cents: 999_999, tier: 'pro', role: 'owner', email_verified: true, user_id: 'x' }
    expect(await change(ada, greedy)).toEqual({ status: 200, settings: DEFAULTS })
    const settings = { ...DEFAULTS, timezone: 'Asia/Tokyo' }
    expect(await change(ada, { ...greedy, timezone: 'Asia/Tokyo' })).toEqual({ status: 200, settings })
    expect((await ada.send('GET', 'rate-limits')).body.tier).toBe('free')
  })

  test.each([
    ['europe/berlin', 'Europe/Berlin'],
    ['AMERICA/PORT-AU-PRINCE', 'America/Port-au-Prince'],
    ['utc', 'UTC'],
    ['asia/calcutta', 'Asia/Calcutta'],
  ])('keeps the time zone %s under its own name, %s', async (typed, timezone) => {
    const ada = await world.person()
    expect((await change(ada, { timezone: typed })).settings).toEqual({ ...DEFAULTS, timezone })
    expect((await read(ada)).timezone).toBe(timezone)
  })
})

const as = await world.person()
const also = async () => expect(await read(as)).toEqual(DEFAULTS)
refusals('PATCH /settings refuses, and changes nothing', { world, as, request: 'PATCH settings', also }, [
  ['a mode that is none', { default_mode: 'turbo' }, '"default_mode" '],
  ['a mode nobody may default to', { default_mode: 'vision' }, '"default_mode" '],
  ['a personality that is none', { personality: 'pirate' }, '"personality" '],
  ['a zone of nowhere', { timezone: 'Mars/Olympus', personality: 'none' }, '"timezone" '],
  ['an offset', { timezone: '+02:00' }, '"timezone" '],
  ['an empty zone', { timezone: '' }, '"timezone" '],
  ['a zone with a line break', { timezone: 'Europe/Lisbon\n' }, '"timezone" '],
  ['a zone that is null', { timezone: null }, '"timezone" '],
  ['branding in words', { svc_branding: 'no' }, '"svc_branding" '],
  ['branding as a number', { svc_branding: 0 }, '"svc_branding" '],
  ['a list', '[]', ''],
  ['what is not JSON', '{', ''],
  ['no credential', {}, '', { anonymous: true, status: 401, code: 'invalid_api_key' }],
  [
    'no credential to read',
    undefined,
    '',
    { request: 'GET settings', anonymous: true, status: 401, code: 'invalid_api_key' },
  ],
])
