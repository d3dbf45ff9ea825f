import type { Message } from '../engines'
import { shorten } from '../kernel/text'

/** A result is worth reading down to this length. */
const LEAST_CHARS = 400

/**
 * Cuts what tools found, the longest first, until all messages together have no more than `room` tokens, or
 * nothing is left to cut. Both ends of a result stay: the last lines close the fence it stands in.
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
