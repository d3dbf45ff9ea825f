import type { Live } from '../live'
import { CHAT } from './desk'

/** Tells of changes in any chat of a widget, in this process: one ear for whoever watches. */
export function createWatch(live: Live) {
  const watchers = new Map<string, Set<() => void>>()
  live.hear(CHAT, '*', (heard) => {
    if (heard === null) for (const ofWidget of watchers.values()) for (const changed of ofWidget) changed()
    else if (heard.what !== 'typing') for (const changed of watchers.get(String(heard.widget)) ?? []) changed()
  })

  /**
   * Calls `changed` whenever there is something new in a chat of these widgets, until the returned function is called. It
   * may miss something: look by yourself now and then.
   */
  return function watch(widgetIds: readonly string[], changed: () => void): () => void {
    for (const id of widgetIds) watchers.set(id, (watchers.get(id) ?? new Set()).add(changed))
    return () => {
      for (const id of widgetIds) {
        const ofWidget = watchers.get(id)
        ofWidget?.delete(changed)
        if (!ofWidget?.size) watchers.delete(id)
      }
    }
  }
}
