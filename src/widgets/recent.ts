import { LRUCache } from 'lru-cache'
import type { WidgetSessionId } from './schema-sessions'
import type { MessageRow } from './table'

const MAX = 500

export type Recent = ReturnType<typeof createRecent>

/**
 * Messages that this process has just committed, so that whoever listens here need not read them again. A message never
 * changes in what listeners are told, and one that is not here is read from the store.
 */
export function createRecent() {
  const messages = new LRUCache<string, MessageRow>({ max: MAX })
  const keyOf = (session: WidgetSessionId, seq: number) => `${session} ${seq}`
  return {
    keep: (message: MessageRow): void => void messages.set(keyOf(message.session_id, message.seq), message),
    /** The one message after a number; undefined where it is not known here. */
    after: (session: WidgetSessionId, seq: number) => messages.get(keyOf(session, seq + 1)),
  }
}
