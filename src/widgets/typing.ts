import { LRUCache } from 'lru-cache'
import type { Clock } from '../kernel/clock'
import type { Live } from '../live'
import { CHAT } from './desk'
import type { Door, Knock } from './door'
import type { Typed } from './schema-sessions'

/** A visitor's writing is told at most this often. */
const EVERY_MS = 2_000
const MOST_TYPING = 2_000

/** Tells the people who answer that a visitor writes. Nothing is stored, and nobody is told while the AI answers. */
export function createTyping({ clock, live, door }: { clock: Clock; live: Live; door: Door }) {
  const toldAt = new LRUCache<string, number>({ max: MOST_TYPING })
  return async function typing(knock: Knock, sessionId: string): Promise<Typed> {
    const { session } = await door.session(knock, sessionId)
    const { id, config_id: widget, takeover_status } = session
    const [now, last] = [clock.monotonic(), toldAt.get(id)]
    const isNews = last === undefined || now - last >= EVERY_MS
    if (takeover_status !== 'ai' && isNews) {
      toldAt.set(id, now)
      live.tell(CHAT, id, { what: 'typing', role: 'user', widget })
    }
    return { typing: true }
  }
}
