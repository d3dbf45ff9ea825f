import type { Message } from '../engines'
import { centralSentences, sentencesOf } from '../kernel/words'

/** Of the room there is, what the summary of older turns may take. */
const SUMMARY_SHARE = 0.2
const MOST_SUMMARY_CHARS = 4_000
const MOST_SENTENCES = 12

/**
 * As many of the newest turns as fit, and the older ones summed up in sentences of their own (contract 22.6).
 * A history with tool calls in it is left as it is: a call parted from its result is refused by engines.
 */
export function fitHistory(
  history: readonly Message[],
  room: number,
  count: (messages: readonly Message[]) => number,
): readonly Message[] {
  if (!history.length || room <= 0 || count(history) <= room) return history
  if (history.some((message) => message.role === 'tool' || message.toolCalls?.length)) return history
  const kept = newest(history, room * (1 - SUMMARY_SHARE), count)
  const older = history.slice(0, history.length - kept.length)
  const summary = summaryOf(older, room * SUMMARY_SHARE, count)
  return summary ? [summary, ...kept] : kept
}

/** From the end, whole turns only: an answer does not stand without its question. */
function newest(history: readonly Message[], room: number, count: (messages: readonly Message[]) => number) {
  let from = history.length
  let used = 0
  for (let at = history.length - 1; at >= 0; at--) {
    used += count([history[at]!])
    if (used > room) break
    if (history[at]!.role === 'user') from = at
  }
  return history.slice(from)
}

/** The most central sentences, quoted: nothing is reworded, so nothing is made up. Null when none fits. */
function summaryOf(
  older: readonly Message[],
  room: number,
  count: (messages: readonly Message[]) => number,
): Message | null {
  const sentences = older.flatMap(({ role, content }) =>
    sentencesOf(typeof content === 'string' ? content : '').map((sentence) => `${SPEAKER[role]}: ${sentence}`),
  )
  for (let wanted = MOST_SENTENCES; wanted > 0; wanted = Math.floor(wanted / 2)) {
    const text = centralSentences(sentences, wanted).join('\n').slice(0, MOST_SUMMARY_CHARS)
    const summary: Message = { role: 'system', content: `${HEADING}\n${text}` }
    if (text && count([summary]) <= room) return summary
  }
  return null
}

const HEADING = 'The conversation is longer than what follows. Sentences of its earlier part, quoted:'
const SPEAKER: Record<Message['role'], string> = { user: 'User', assistant: 'You', system: 'Note', tool: 'Tool' }
