import { asc, eq } from 'drizzle-orm'
import { iso } from '../kernel/clock'
import type { Reader, Tx } from '../kernel/store'
import type { WidgetId } from './schema'
import type { WidgetNote, WidgetSessionId } from './schema-sessions'
import { type NoteRow, widgetNotes } from './table'

/** How many notes a chat may have. */
export const MAX_NOTES = 200

/** Rows of what people write about a chat for each other. The visitor's routes never read them. */
export const noteRepository = {
  async list(db: Reader, session: WidgetSessionId): Promise<NoteRow[]> {
    const t = db.of(widgetNotes)
    return db.select().from(t).where(eq(t.session_id, session)).orderBy(asc(t.created_at), asc(t.id)).limit(MAX_NOTES)
  },

  async insert(tx: Tx, row: NoteRow): Promise<void> {
    await tx.insert(tx.of(widgetNotes)).values(row)
  },

  async removeOf(tx: Tx, config: WidgetId): Promise<void> {
    const t = tx.of(widgetNotes)
    await tx.delete(t).where(eq(t.config_id, config))
  },
}

export const presentNote = ({ id, author_id, author_name, content, created_at }: NoteRow): WidgetNote => ({
  id,
  author: { id: author_id, name: author_name },
  content,
  created_at: iso(created_at),
})
