import { LRUCache } from 'lru-cache'
import type { Clock } from '../kernel/clock'
import type { Live } from '../live'
import { CHAT } from './desk'

/** Called for a change; with the id of a chat when nothing but its visitor's writing is new. */
type Changed = (writing: string | null) => void

/** Typing is told over and over; without a word for so long it has ended. */
const WRITES_MS = 5_000
const MOST_WRITING = 2_000

/** Tells of changes in any chat of a widget, in this process: one ear for whoever watches. */
export function createWatch({ live, clock }: { live: Live; clock: Clock }) {
  const watchers = new Map<string, Set<Changed>>()
  const writing = new LRUCache<string, number>({ max: MOST_WRITING })
  live.hear(CHAT, '*', (heard) => {
    if (heard === null) {
      for (const ofWidget of watchers.values()) for (const changed of ofWidget) changed(null)
      return
    }
    const id = String(heard.id)
    const isTyping = heard.what === 'typing'
    if (isTyping && heard.role !== 'user') return
    if (isTyping) writing.set(id, clock.monotonic())
    else if (heard.what === 'message') writing.delete(id)
    for (const changed of watchers.get(String(heard.widget)) ?? []) changed(isTyping ? id : null)
  })
  return { watch, writes }

  /**
   * Calls `changed` whenever there is something new in a chat of these widgets, until the returned function is called. It
   * may miss something: look by yourself now and then.
   */
  function watch(widgetIds: readonly string[], changed: Changed): () => void {
    for (const id of widgetIds) watchers.set(id, (watchers.get(id) ?? new Set()).add(changed))
    return () => {
      for (const id of widgetIds) {
        const ofWidget = watchers.get(id)
        ofWidget?.delete(changed)
        if (!ofWidget?.size) watchers.delete(id)
      }
    }
  }

  /** Whether the visitor of this chat writes something now. */
  function writes(sessionId: string): boolean {
    const at = writing.get(sessionId)
    return at !== undefined && clock.monotonic() - at < WRITES_MS
  }
}
