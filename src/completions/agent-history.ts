import type { Message } from '../engines'
import { centralSentences, sentencesOf } from '../text'

/** Share of the room that the summary of older turns may take. */
const SUMMARY_SHARE = 0.2
const MAX_SUMMARY_CHARS = 4_000
const MAX_SENTENCES = 12
const MAX_READ_CHARS = 40_000

type Count = (messages: readonly Message[]) => number

/** Turns to send in full, and the summary of the older ones for the system prompt. */
export type Fitted = { turns: readonly Message[]; summary: string | null }

/**
 * The newest turns that fit into `room` tokens, and a summary of the older ones in quoted sentences (contract 22.6).
 * A history with tool calls is left as it is, because engines refuse a call without its result.
 */
export function fitHistory(history: readonly Message[], room: number, count: Count): Fitted {
  const whole: Fitted = { turns: history, summary: null }
  if (history.some((message) => message.role === 'tool' || message.toolCalls?.length)) return whole
  if (room <= 0 || from(history, room, count) === 0) return whole
  const start = from(history, room * (1 - SUMMARY_SHARE), count)
  return { turns: history.slice(start), summary: summaryOf(history.slice(0, start), room * SUMMARY_SHARE, count) }
}

/** Index of the first message that fits. Always a user message, so that no answer is kept without its question. */
function from(history: readonly Message[], room: number, count: Count): number {
  let start = history.length
  let used = 0
  for (let at = history.length - 1; at >= 0; at--) {
    used += count([history[at]!])
    if (used > room) return start
    if (history[at]!.role === 'user') start = at
  }
  return 0
}

/** The most central sentences, quoted verbatim so that nothing is invented. Null when none fits. */
function summaryOf(older: readonly Message[], room: number, count: Count): string | null {
  const sentences = lately(older).flatMap(({ role, content }) =>
    sentencesOf(content).map((sentence) => `${SPEAKER[role]}: ${sentence}`),
  )
  for (let wanted = MAX_SENTENCES; wanted > 0; wanted = Math.floor(wanted / 2)) {
    const text = centralSentences(sentences, wanted).join('\n').slice(0, MAX_SUMMARY_CHARS)
    const summary = `${HEADING}\n${text}`
    if (text && count([{ role: 'system', content: summary }]) <= room) return summary
  }
  return null
}

/** The last `MOST_READ_CHARS` characters of the messages, since a history may hold megabytes (I28). */
function lately(older: readonly Message[]): { role: Message['role']; content: string }[] {
  const read: { role: Message['role']; content: string }[] = []
  let left = MAX_READ_CHARS
  for (let at = older.length - 1; at >= 0 && left > 0; at--) {
    const { role, content } = older[at]!
    if (typeof content !== 'string') continue
    read.unshift({ role, content: content.slice(-left) })
    left -= content.length
  }
  return read
}

const HEADING = 'The conversation is longer than what follows. Sentences of its earlier part, quoted:'
const SPEAKER: Record<Message['role'], string> = { user: 'User', assistant: 'You', system: 'Note', tool: 'Tool' }
