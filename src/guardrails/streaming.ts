import type { Blocked, Outcome } from './inspection'

/** The last characters received are held back until more of the answer arrives (docs/api.md 12). */
export const HELD = 256
/** Number of characters already shown that rules read again as context. */
const CONTEXT = 512
/** Number of new characters after which the rules run again. */
const STEP = 128
/** A run without blanks, such as a key or a URL, is shown as a whole, up to this length. */
const LONGEST_RUN = 16_384
/** Rules on the whole answer run from this length on, because a shorter text says too little. */
const FIRST_WHOLE = 512

type RunRules = (text: string) => Promise<Outcome>
type Rules = {
  /** Rules that read an answer stretch by stretch. */
  stretch: RunRules
  /** Rules that read the whole answer so far. Null when there are none. */
  whole: RunRules | null
}

export type HoldBack = ReturnType<typeof createHoldBack>

/** Shows nothing of an answer before it is complete, because escapes can hide the content of partial JSON. */
export function createHoldAll(): HoldBack {
  let shown = ''
  return {
    add: async () => '',
    blocked: () => null,
    shown: () => shown,
    async rest(whole) {
      shown = whole
      return whole
    },
  }
}

/** Behaves like `other`, unless the first character shows that the answer may be JSON. Then it holds all text back. */
export function createHoldIfJson(other: HoldBack): HoldBack {
  let begun = ''
  let chosen: HoldBack | null = null
  return {
    async add(piece) {
      if (chosen) return chosen.add(piece)
      begun += piece
      const first = begun.trimStart()[0]
      if (first === undefined) return ''
      chosen = '{[`'.includes(first) ? createHoldAll() : other
      return chosen.add(begun)
    },
    blocked: () => chosen?.blocked() ?? null,
    shown: () => chosen?.shown() ?? '',
    rest: (whole, isStandIn) => (chosen ?? other).rest(whole, isStandIn),
  }
}

/**
 * A streamed answer with its last 256 characters held back (docs/api.md 12). A finding in the part shown next ends in
 * the held part. It is redacted or stops the answer before its beginning was shown.
 */
export function createHoldBack({ stretch, whole }: Rules) {
  let raw = ''
  /** Offset in `raw` of the first character that is not shown yet. */
  let from = 0
  let shown = ''
  let blocked: Blocked | null = null
  /** The lengths at which the rules run again: the rules on stretches, and the rules on the whole. */
  let nextStretch = HELD + STEP
  let nextWhole = FIRST_WHOLE

  return {
    /** Adds the next piece of the answer and returns the text that may be shown now. */
    async add(piece: string): Promise<string> {
      raw += piece
      // Runs each time the length has doubled, so that the total work stays linear in the length.
      if (whole && !blocked && raw.length >= nextWhole) {
        nextWhole = 2 * raw.length
        blocked = (await whole(raw)).blocked
      }
      return blocked || raw.length < nextStretch ? '' : show(raw.length - HELD)
    },

    /** The rule that stopped the answer, or null. */
    blocked: () => blocked,

    /** The text shown so far. */
    shown: () => shown,

    /**
     * The text still to show when the answer has ended. `whole` is the answer after all rules. With `isStandIn` it
     * replaces the answer, so it cannot continue the text already shown.
     */
    async rest(whole: string, isStandIn = false): Promise<string> {
      if (whole.startsWith(shown)) {
        const rest = whole.slice(shown.length)
        shown = whole
        return rest
      }
      return blocked || isStandIn ? '' : show(raw.length)
    },
  }

  async function show(max: number): Promise<string> {
    const start = startOfWord(raw, Math.max(0, from - CONTEXT))
    const outcome = await stretch(raw.slice(start))
    if (outcome.blocked) {
      blocked = outcome.blocked
      return ''
    }
    const until =
      max < raw.length
        ? beforeRun(raw, max < raw.length && /[\ud800-\udbff]/.test(raw[max - 1] ?? '') ? max - 1 : max)
        : max
    const { text, end } = cutOut(raw.slice(start), outcome, from - start, until - start)
    from = start + end
    // While a long run is held back, it is read again only after growing by half.
    nextStretch = raw.length + Math.max(STEP, (raw.length - HELD - from) / 2)
    shown += text
    return text
  }
}

/** The redacted text of a stretch between two positions. Ends before a redaction that continues after the second. */
function cutOut(stretch: string, { spans }: Outcome, begin: number, max: number): { text: string; end: number } {
  let text = ''
  let at = begin
  let end = max
  for (const span of spans) {
    if (span.end <= at) continue
    if (span.start >= end) break
    if (span.end > end) {
      end = Math.max(at, span.start)
      break
    }
    text += stretch.slice(at, Math.max(at, span.start)) + span.text
    at = span.end
  }
  return { text: text + stretch.slice(at, end), end: Math.max(at, end) }
}

const WORD_CHARS = 64

/** Moves back to the last blank, so that rules do not read the end of a word as a word. */
function startOfWord(text: string, place: number): number {
  for (let at = place; at > 0 && at > place - WORD_CHARS; at--) if (/\s/.test(text[at - 1]!)) return at
  return place
}

const IN_RUN = /[\w.~%+/=@:-]/

/** The start of a run without blanks that continues over `place` to the end of the text, else `place` itself. */
function beforeRun(text: string, place: number): number {
  for (let at = place; at < text.length; at++) if (!IN_RUN.test(text[at]!)) return place
  let start = place
  while (start > 0 && text.length - start < LONGEST_RUN && IN_RUN.test(text[start - 1]!)) start--
  return text.length - start < LONGEST_RUN ? start : place
}
