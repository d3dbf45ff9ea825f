import type { AuditLog } from '../audit'
import type { Call } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { defineError, invalidInput, quoted } from '../kernel/errors'
import type { UserId } from '../kernel/ids'
import { createReadCache, freshFor } from '../kernel/read-cache'
import type { Reader, Store } from '../kernel/store'
import { settingsRepository as rows } from './repository'
import { timeZoneNamed } from './rules'
import { DEFAULT_SETTINGS, type Settings, type SettingsPatch } from './schema'
import type { SettingsRow } from './table'

export type SettingsService = ReturnType<typeof createSettings>

type Deps = { store: Store; audit: AuditLog; clock: Clock }

const REMEMBERED_USERS = 10_000

/** The preferences of users. Users without a row have the defaults. */
export function createSettings({ store, audit, clock }: Deps) {
  const remembered = createReadCache<UserId, Settings>({
    max: REMEMBERED_USERS,
    maxAgeMs: freshFor(store.dialect),
    clock,
    joins: false,
  })

  return { read, update }

  /** The user's settings, or the defaults. Cached, because every completion reads them. */
  async function read(reader: Reader, userId: UserId): Promise<Settings> {
    return (await remembered.get(userId, (id) => load(reader, id))) ?? DEFAULT_SETTINGS
  }

  /**
   * Changes the members in `patch` and returns all settings. Throws 400 `validation_error` for an unknown time zone,
   * 403 `forbidden` for an organization's key, because others than the user may hold it.
   */
  async function update(call: Call, patch: SettingsPatch): Promise<Settings> {
    const { userId, orgId } = call.caller
    if (orgId !== null) throw notThisKeys()
    const change = { ...picked(patch), ...zoneOf(patch) }
    return store.write(async (tx) => {
      const settings = { ...(await load(tx, userId)), ...change }
      await rows.save(tx, { user_id: userId, ...settings, updated_at: clock.now() })
      await audit.record(tx, call, { action: 'settings.updated', entityType: 'settings', entityId: userId })
      tx.afterCommit(() => remembered.forget(userId))
      return settings
    })
  }
}

async function load(reader: Reader, userId: UserId): Promise<Settings> {
  const row = await rows.find(reader, userId)
  return row ? present(row) : DEFAULT_SETTINGS
}

const present = ({ default_mode, personality, timezone, svc_branding }: SettingsRow): Settings => ({
  default_mode,
  personality,
  timezone,
  svc_branding,
})

/** Only the four settings, whatever else the body contained (E4). */
const picked = (patch: SettingsPatch): SettingsPatch =>
  Object.fromEntries(
    Object.keys(DEFAULT_SETTINGS).flatMap((name) => {
      const value = patch[name as keyof Settings]
      return value === undefined ? [] : [[name, value]]
    }),
  )

function zoneOf({ timezone }: SettingsPatch): Pick<SettingsPatch, 'timezone'> {
  if (timezone === undefined) return {}
  const name = timeZoneNamed(timezone)
  if (name === null) throw unknownTimeZone(timezone)
  return { timezone: name }
}

const notThisKeys = defineError(
  'forbidden',
  'forbidden',
  () =>
    'This key belongs to an organization, and an organization has no personal settings. ' +
    'Change yours with a personal key or in the dashboard.',
)

const unknownTimeZone = (name: string) =>
  invalidInput('timezone', `"timezone" is "${quoted(name)}"; it must be an IANA name such as Europe/Lisbon or UTC.`)
