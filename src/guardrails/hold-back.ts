import type { Blocked, Judgement } from './judge'

/** Characters of an answer that are not let out before those after them are known (contract 12). */
export const HELD = 256
/** What a rule may look back on, besides what is judged. */
const CONTEXT = 512
/** The least that is worth a look. */
const STEP = 128
/** What has no blank in it, such as a key or an address, is let out whole, up to this length. */
const LONGEST_RUN = 16_384
/** Shorter than this, an answer says too little of the whole. */
const FIRST_WHOLE = 512

type JudgeText = (text: string) => Promise<Judgement>
type Judges = {
  /** By rules that look at a stretch of the answer. */
  stretch: JudgeText
  /** By rules that look at all of it, as far as it has come; null without any. */
  whole: JudgeText | null
}

export type HoldBack = ReturnType<typeof createHoldBack>

/** Shows nothing of an answer before it is whole: of JSON, whose escapes hide what it says, a part cannot be judged. */
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

/** As `other` does, but for an answer whose first sign says that it is JSON: nothing of that is shown before it is whole. */
export function createHoldIfJson(other: HoldBack): HoldBack {
  let begun = ''
  let chosen: HoldBack | null = null
  return {
    async add(piece) {
      if (chosen) return chosen.add(piece)
      begun += piece
      const sign = begun.trimStart()[0]
      if (sign === undefined) return ''
      chosen = '{[`'.includes(sign) ? createHoldAll() : other
      return chosen.add(begun)
    },
    blocked: () => chosen?.blocked() ?? null,
    shown: () => chosen?.shown() ?? '',
    rest: (whole, isStandIn) => (chosen ?? other).rest(whole, isStandIn),
  }
}

/**
 * An answer on its way out, with its last 256 characters held back: what is found that begins among those let
 * out next is known whole by then, so it is replaced or stops the answer before anyone saw its beginning.
 */
export function createHoldBack({ stretch, whole }: Judges) {
  let raw = ''
  /** Where in `raw` the part begins that is not let out yet. */
  let from = 0
  let shown = ''
  let blocked: Blocked | null = null
  /** How long it must be before it is worth another look, at the stretch and at the whole. */
  let nextLook = HELD + STEP
  let nextWhole = FIRST_WHOLE

  return {
    /** What of the answer may be shown now that this has come. */
    async add(piece: string): Promise<string> {
      raw += piece
      if (whole && !blocked && raw.length >= nextWhole) await lookAtWhole(whole)
      return blocked || raw.length < nextLook ? '' : letOut(raw.length - HELD)
    },

    /** Which rule stopped it, once one has. */
    blocked: () => blocked,

    /** All that was let out. */
    shown: () => shown,

    /**
     * What is still to be shown of an answer that, judged as a whole, reads like this; `isStandIn` when these are
     * not its own words: then nothing follows what was let out of it.
     */
    async rest(whole: string, isStandIn = false): Promise<string> {
      if (whole.startsWith(shown)) {
        const rest = whole.slice(shown.length)
        shown = whole
        return rest
      }
      return blocked || isStandIn ? '' : letOut(raw.length)
    },
  }

  /** Each time it has doubled, so that looking stays as cheap as the answer is long. */
  async function lookAtWhole(judge: JudgeText): Promise<void> {
    nextWhole = 2 * raw.length
    blocked = (await judge(raw)).blocked
  }

  async function letOut(most: number): Promise<string> {
    const start = startOfWord(raw, Math.max(0, from - CONTEXT))
    const judgement = await stretch(raw.slice(start))
    if (judgement.blocked) {
      blocked = judgement.blocked
      return ''
    }
    const until = most < raw.length ? beforeRun(raw, wholeLetters(raw, most)) : most
    const { text, end } = cutOut(raw.slice(start), judgement, from - start, until - start)
    from = start + end
    // What waits for the end of something long is looked at again when it has grown by half.
    nextLook = raw.length + Math.max(STEP, (raw.length - HELD - from) / 2)
    shown += text
    return text
  }
}

/** The part of a judged stretch between two places; it ends before what only begins there. */
function cutOut(stretch: string, { spans }: Judgement, begin: number, most: number): { text: string; end: number } {
  let text = ''
  let at = begin
  let end = most
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

/** Back to the last blank, so that no word is judged by its end. */
function startOfWord(text: string, place: number): number {
  for (let at = place; at > 0 && at > place - WORD_CHARS; at--) if (/\s/.test(text[at - 1]!)) return at
  return place
}

const IN_RUN = /[\w.~%+/=@:-]/

/** Back to the beginning of a run that goes on over a place and has not ended yet; else the place itself. */
function beforeRun(text: string, place: number): number {
  for (let at = place; at < text.length; at++) if (!IN_RUN.test(text[at]!)) return place
  let start = place
  while (start > 0 && text.length - start < LONGEST_RUN && IN_RUN.test(text[start - 1]!)) start--
  return text.length - start < LONGEST_RUN ? start : place
}

const wholeLetters = (text: string, end: number): number =>
  end < text.length && /[\ud800-\udbff]/.test(text[end - 1] ?? '') ? end - 1 : end
