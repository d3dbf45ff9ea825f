import type { AuditLog } from '../audit'
import type { Call } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { defineErrors, invalidInput, quoted } from '../kernel/errors'
import type { UserId } from '../kernel/ids'
import { createReadCache } from '../kernel/read-cache'
import { rowsOf } from '../kernel/rows'
import { timeZoneNamed } from '../kernel/schedule'
import { defineTable, type Reader, type Row, type Store, type Tx } from '../kernel/store'
import { DEFAULT_SETTINGS, type Settings, type SettingsPatch } from './settings-schema'

export const userSettings = defineTable('user_settings', (k) => ({
  user_id: k.text('user_id').$type<UserId>().primaryKey(),
  default_mode: k.text('default_mode').$type<Settings['default_mode']>().notNull(),
  personality: k.text('personality').$type<Settings['personality']>().notNull(),
  timezone: k.text('timezone').notNull(),
  svc_branding: k.bool('svc_branding').notNull(),
  keep_bodies: k.bool('keep_bodies').notNull().default(false),
  keep_bodies_days: k.int('keep_bodies_days').notNull().default(7),
  shortcuts: k.bool('shortcuts').notNull().default(true),
  updated_at: k.ms('updated_at').notNull(),
}))
/** One row per user, created when the first setting is changed. */
const rows = rowsOf(userSettings)

const save = (tx: Tx, row: Row<typeof userSettings>) =>
  tx
    .insert(tx.of(userSettings))
    .values(row)
    .onConflictDoUpdate({ target: tx.of(userSettings).user_id, set: row })

export type SettingsService = ReturnType<typeof createSettings>

type Deps = {
  store: Store
  audit: AuditLog
  clock: Clock
  /** True when the operator allows storing requests and answers. */
  traceBodies: boolean
}

const REMEMBERED_USERS = 10_000

/** The preferences of users. Users without a row have the defaults. */
export function createSettings({ store, audit, clock, traceBodies }: Deps) {
  const remembered = createReadCache<UserId, Settings>({
    ...{ max: REMEMBERED_USERS, changes: store.changes, tables: ['user_settings'] },
    joins: false,
  })

  return { read, update }

  /** The user's settings, or the defaults. Cached, because every completion reads them. */
  async function read(reader: Reader, userId: UserId): Promise<Settings> {
    return (await remembered.get(userId, (id) => load(reader, id))) ?? DEFAULT_SETTINGS
  }

  /**
   * Changes the members in `patch` and returns all settings. Throws 400 `validation_error` for an unknown time zone.
   * Throws 403 `forbidden` for an organization's key, because others than the user may hold it, and for `keep_bodies`
   * when the operator does not allow it.
   */
  async function update(call: Call, patch: SettingsPatch): Promise<Settings> {
    const { userId, orgId } = call.caller
    if (orgId !== null) throw settingErrors.notThisKeys()
    if (patch.keep_bodies && !traceBodies) throw settingErrors.bodiesNotAllowed()
    const change = { ...picked(patch), ...zoneOf(patch) }
    return store.write(async (tx) => {
      const settings = { ...(await load(tx, userId)), ...change }
      await save(tx, { user_id: userId, ...settings, updated_at: clock.now() })
      await audit.record(tx, call, { action: 'settings.updated', entityType: 'settings', entityId: userId })
      tx.afterCommit(() => remembered.forget(userId))
      return settings
    })
  }
}

async function load(reader: Reader, userId: UserId): Promise<Settings> {
  const { user_id: _, updated_at: __, ...settings } = (await rows.first(reader, { user_id: userId })) ?? {}
  return { ...DEFAULT_SETTINGS, ...settings }
}

/** Picks only the settings, ignoring anything else in the body (docs/attacks.md E4). */
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
  if (name === null)
    throw invalidInput(
      'timezone',
      `"timezone" is "${quoted(timezone)}"; it must be an IANA name such as Europe/Lisbon or UTC.`,
    )
  return { timezone: name }
}

const settingErrors = defineErrors('forbidden', {
  bodiesNotAllowed: 'This server stores no requests and answers. Ask its operator to set SVC_TRACE_BODIES=true.',
  notThisKeys:
    'This key belongs to an organization, and an organization has no personal settings. ' +
    'Change yours with a personal key or in the dashboard.',
})
