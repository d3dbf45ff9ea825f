import type { Message } from '../engines'
import { centralSentences, sentencesOf } from '../kernel/words'

/** Of the room there is, what the summary of older turns may take. */
const SUMMARY_SHARE = 0.2
const MOST_SUMMARY_CHARS = 4_000
const MOST_SENTENCES = 12
const MOST_READ_CHARS = 40_000

type Count = (messages: readonly Message[]) => number

/** Turns to show as they are, and what stands in the system prompt for those before them. */
export type Fitted = { turns: readonly Message[]; summary: string | null }

/**
 * As many of the newest turns as fit, and the older ones summed up in sentences of their own (contract 22.6).
 * A history with tool calls in it is left as it is: a call parted from its result is refused by engines.
 */
export function fitHistory(history: readonly Message[], room: number, count: Count): Fitted {
  const whole: Fitted = { turns: history, summary: null }
  if (history.some((message) => message.role === 'tool' || message.toolCalls?.length)) return whole
  if (room <= 0 || from(history, room, count) === 0) return whole
  const start = from(history, room * (1 - SUMMARY_SHARE), count)
  return { turns: history.slice(start), summary: summaryOf(history.slice(0, start), room * SUMMARY_SHARE, count) }
}

/** Where the newest turns that fit begin: whole turns only, as an answer does not stand without its question. */
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

/** The most central sentences, quoted: nothing is reworded, so nothing is made up. Null when none fits. */
function summaryOf(older: readonly Message[], room: number, count: Count): string | null {
  const sentences = lately(older).flatMap(({ role, content }) =>
    sentencesOf(content).map((sentence) => `${SPEAKER[role]}: ${sentence}`),
  )
  for (let wanted = MOST_SENTENCES; wanted > 0; wanted = Math.floor(wanted / 2)) {
    const text = centralSentences(sentences, wanted).join('\n').slice(0, MOST_SUMMARY_CHARS)
    const summary = `${HEADING}\n${text}`
    if (text && count([{ role: 'system', content: summary }]) <= room) return summary
  }
  return null
}

/** The last of it, as much as can be read in passing: a history may hold megabytes (I28). */
function lately(older: readonly Message[]): { role: Message['role']; content: string }[] {
  const read: { role: Message['role']; content: string }[] = []
  let left = MOST_READ_CHARS
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
