import type { Message } from '../engines'
import { shorten } from '../kernel/text'

/** Results are not cut below this length. */
const LEAST_CHARS = 400

/**
 * Cuts tool results, the longest first, until all messages together have at most `room` tokens or no result is
 * longer than `LEAST_CHARS`. Both ends of a result stay, because its last lines close the fence around it.
 */
export function fitResults(messages: Message[], room: number, count: (messages: readonly Message[]) => number): void {
  let most = Math.max(0, ...messages.map((message) => (message.role === 'tool' ? message.content.length : 0)))
  while (most > LEAST_CHARS && count(messages) > room) {
    most = Math.max(LEAST_CHARS, Math.floor(most / 2))
    for (const [place, message] of messages.entries()) {
      if (message.role === 'tool') messages[place] = { ...message, content: cutInside(message.content, most) }
    }
  }
}

function cutInside(text: string, most: number): string {
  if (text.length <= most) return text
  const tail = text.slice(-Math.floor(most / 4)).replace(/^[\udc00-\udfff]/, '')
  return `${shorten(text, Math.floor(most / 2))}\n[cut here to make room]\n${tail}`
}
