import type { Panel } from './panel'
import type { createTranscript } from './transcript'
import type { Status, Takeover } from './wire'
import { WORDS } from './words'

type Options = {
  panel: Pick<Panel, 'setStatus'>
  transcript: Pick<ReturnType<typeof createTranscript>, 'add' | 'setTyping'>
  tell(takeover: Takeover): void
}

/** Typing is told over and over; without a word for so long it has ended. */
const TYPING_MS = 5_000

/** Who answers: the assistant, or a person and their name (contract 15). */
export function createPeople({ panel, transcript, tell }: Options) {
  let status: Status = 'ai'
  let changes = 0
  /** Minutes; null where nobody knows. */
  let wait: number | null = null
  let name: string = WORDS.somebody
  let typingEnds: ReturnType<typeof setTimeout> | undefined

  function draw(): void {
    panel.setStatus(status === 'requested' ? WORDS.asked(wait) : status === 'human' ? WORDS.joined(name) : '')
  }

  return {
    draw,
    name: () => name,
    status: () => status,
    /** Grows with each change: what was asked for before the last one may be older than it. */
    changes: () => changes,
    change(takeover: Takeover): void {
      changes += 1
      const before = status
      status = takeover.takeover_status
      if (takeover.usual_wait_s !== undefined) wait = Math.max(1, Math.round(takeover.usual_wait_s / 60))
      if (takeover.operator?.name) name = takeover.operator.name
      if (before === status) {
        draw()
        return
      }
      if (before === 'human') transcript.add('system', WORDS.left(name))
      transcript.setTyping('')
      draw()
      tell({ takeover_status: status })
    },
    typing(role: string): void {
      clearTimeout(typingEnds)
      transcript.setTyping(role === 'operator' ? WORDS.personWrites(name) : WORDS.writing)
      typingEnds = setTimeout(() => transcript.setTyping(''), TYPING_MS)
    },
  }
}
