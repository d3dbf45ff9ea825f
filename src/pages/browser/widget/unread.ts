import type { Panel } from './panel'
import type { Visitor } from './visitor'
import type { Message } from './wire'

type Options = {
  visitor: Pick<Visitor, 'hasRead' | 'markRead'>
  panel: Pick<Panel, 'setUnread'>
  isOpen(): boolean
}

/** Counts what comes to the closed chat, once. What is shown in the open one is read, on the next page too. */
export function createUnread({ visitor, panel, isOpen }: Options) {
  const ids = new Set<string>()
  /** When the newest message came. */
  let newest = ''
  return {
    count: () => ids.size,
    opened(): void {
      ids.clear()
      visitor.markRead(newest)
    },
    arrived({ id, role, created_at }: Message): void {
      if (created_at > newest) newest = created_at
      if (isOpen()) visitor.markRead(newest)
      else if ((role === 'assistant' || role === 'operator') && !visitor.hasRead(created_at)) {
        ids.add(id)
        panel.setUnread(ids.size)
      }
    },
  }
}
