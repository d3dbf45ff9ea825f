import { eq } from 'drizzle-orm'
import type { UserId } from '../kernel/ids'
import { query, type Reader, type Tx } from '../kernel/store'
import { type SettingsRow, userSettings } from './table'

const ofUser = query<{ user_id: UserId }>()((db, p) => {
  const table = db.of(userSettings)
  return db.select().from(table).where(eq(table.user_id, p.user_id)).limit(1)
})

/** One row per user, created when the first setting is changed. */
export const settingsRepository = {
  find: async (db: Reader, user_id: UserId): Promise<SettingsRow | undefined> => (await ofUser(db, { user_id }))[0],

  async save(tx: Tx, row: SettingsRow): Promise<void> {
    const table = tx.of(userSettings)
    await tx.insert(table).values(row).onConflictDoUpdate({ target: table.user_id, set: row })
  },
}
