import { describe, expect, test } from 'bun:test'
import { createSettings, DEFAULT_SETTINGS } from '../../../src/accounts'
import type { SettingsPatch } from '../../../src/accounts/settings-schema'
import { createAuditLog } from '../../../src/audit'
import { UserId } from '../../../src/kernel/ids'
import { callOf, keyCaller } from '../../support/callers'
import { fakeClock } from '../../support/clock'
import { openTestStore } from '../../support/store'

const store = await openTestStore()

function createWorld() {
  const clock = fakeClock()
  const audit = createAuditLog({ clock })
  const settings = createSettings({ store, audit, clock, traceBodies: false })
  const caller = keyCaller()
  const actions = async () =>
    (await audit.list(store.read, `user:${caller.userId}`, { limit: 10 })).items.map((event) => event.action)
  return { clock, audit, settings, caller, call: callOf(caller, 'PATCH /settings'), actions }
}

describe('settings', () => {
  test('are the defaults of the contract for everyone who chose nothing', async () => {
    expect(await createWorld().settings.read(store.read, UserId.create())).toEqual({
      default_mode: 'auto',
      personality: 'svc',
      timezone: 'UTC',
      svc_branding: true,
      keep_bodies: false,
      keep_bodies_days: 7,
      shortcuts: true,
    })
  })

  test('keep what is not named, are seen at once, and leave an audit row', async () => {
    const { settings, call, caller, actions } = createWorld()
    await settings.read(store.read, caller.userId)
    const first = await settings.update(call, { timezone: 'Europe/Lisbon' })
    expect(first).toEqual({ ...DEFAULT_SETTINGS, timezone: 'Europe/Lisbon' })
    expect(await settings.read(store.read, caller.userId)).toEqual(first)
    const second = await settings.update(call, { svc_branding: false, default_mode: 'think' })
    expect(second).toEqual({ ...first, svc_branding: false, default_mode: 'think' })
    expect(await settings.read(store.read, caller.userId)).toEqual(second)
    expect(await actions()).toEqual(['settings.updated', 'settings.updated'])
  })

  test('are each their own', async () => {
    const [ada, eve] = [createWorld(), createWorld()]
    await ada.settings.update(ada.call, { personality: 'none' })
    expect(await eve.settings.read(store.read, eve.caller.userId)).toEqual(DEFAULT_SETTINGS)
  })

  test('take nothing that is not a setting (E4)', async () => {
    const { settings, call } = createWorld()
    const greedy = { balance_cents: 999_999, tier: 'pro', user_id: 'x', timezone: 'Asia/Tokyo' } as SettingsPatch
    expect(await settings.update(call, greedy)).toEqual({ ...DEFAULT_SETTINGS, timezone: 'Asia/Tokyo' })
  })

  test.each([
    ['europe/berlin', 'Europe/Berlin'],
    ['AMERICA/PORT-AU-PRINCE', 'America/Port-au-Prince'],
    ['utc', 'UTC'],
    ['asia/calcutta', 'Asia/Calcutta'],
  ])('keep the time zone %s under its own name, %s', async (typed, timezone) => {
    const { settings, call, caller } = createWorld()
    expect(await settings.update(call, { timezone: typed })).toEqual({ ...DEFAULT_SETTINGS, timezone })
    expect((await settings.read(store.read, caller.userId)).timezone).toBe(timezone)
  })

  test.each(['Mars/Olympus', '+02:00', '', 'Europe/Lisbon\n'])(
    'refuse %j as a time zone and change nothing',
    async (timezone) => {
      const { settings, call, caller, actions } = createWorld()
      expect(settings.update(call, { timezone, personality: 'none' })).rejects.toMatchObject({
        code: 'validation_error',
        param: 'timezone',
      })
      expect(await settings.read(store.read, caller.userId)).toEqual(DEFAULT_SETTINGS)
      expect(await actions()).toEqual([])
    },
  )
})
