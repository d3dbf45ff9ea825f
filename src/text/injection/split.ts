import { squeezed, type View } from './view'

const VERBS = 'ignore|disregard|forget|bypass|override|reveal|show|print|repeat|leak'
const LINKS = 'all|any|of|the|your|my|these|those|other|every|me|us|its|hidden|full|entire'
const PRIORS = 'previous|prior|above|earlier|preceding|system|original|initial|developer|safety|hidden|secret|your'
const THINGS =
  'instructions|instruction|rules|rule|orders|prompts|prompt|guidelines|directives|commands|guardrails|message'
/** Maximum number of consecutive words of one kind. `your` is of two kinds. */
const REPEATED = 8
const PHRASE = new RegExp(`(?:${VERBS})(?:${LINKS}){0,${REPEATED}}(?:${PRIORS}){1,${REPEATED}}(?:${THINGS})`, 'g')
const backwards = (words: string): string =>
  words
    .split('|')
    .map((word) => [...word].reverse().join(''))
    .join('|')
const PHRASE_BACKWARDS = new RegExp(
  `(?:${backwards(THINGS)})(?:${backwards(PRIORS)}){1,${REPEATED}}(?:${backwards(LINKS)}){0,${REPEATED}}(?:${backwards(VERBS)})`,
  'g',
)
const WORD = new RegExp(`${VERBS}|${LINKS}|${PRIORS}|${THINGS}`, 'g')

/**
 * A joint is where two words of a phrase meet. Indexed by three letters of five bits each: whether they end the word
 * before a joint or start the word after it. 1 for phrases written forwards, 2 for phrases written backwards.
 */
const BEFORE = new Uint8Array(1 << 15)
const BEHIND = new Uint8Array(1 << 15)
const packed = (letters: string): number => [...letters].reduce((sum, one) => (sum << 5) | (one.charCodeAt(0) - 96), 0)
const mark = (firsts: string, seconds: string, direction: number) => {
  for (const first of firsts.split('|')) BEFORE[packed(first.slice(-3))]! |= direction
  for (const second of seconds.split('|')) BEHIND[packed(second.slice(0, 3))]! |= direction
}
mark(PRIORS, THINGS, 1)
mark(backwards(THINGS), backwards(PRIORS), 2)

const JOINT = new RegExp(`(?:${PRIORS})(?:${THINGS})|(?:${backwards(THINGS)})(?:${backwards(PRIORS)})`)
/** Maximum letters on either side of a joint, for its two words and for a whole phrase. */
const NEAR = 12
const REACH = 160

/** Possible joints. `at` is the offset of the third letter after a joint, `before` the number of letters up to it. */
function jointsIn(text: string): { at: number; before: number }[] {
  const joints: { at: number; before: number }[] = []
  let last = 0
  let letters = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (!isLatin(code)) continue
    last = (last << 5) | (code - 96)
    const behind = BEHIND[last & 0x7fff]!
    if (behind !== 0 && behind & BEFORE[(last >>> 15) & 0x7fff]!) joints.push({ at, before: letters })
    letters++
  }
  return joints
}

/** The last `upTo` letters up to `at` and the first `behind` letters after it, skipping all other characters. */
function lettersAround(text: string, at: number, upTo: number, behind: number): string {
  let letters = ''
  for (let place = at; place >= 0 && letters.length < upTo; place--) {
    if (isLatin(text.charCodeAt(place))) letters = text[place] + letters
  }
  const length = letters.length + behind
  for (let place = at + 1; place < text.length && letters.length < length; place++) {
    if (isLatin(text.charCodeAt(place))) letters += text[place]
  }
  return letters
}

const isLatin = (code: number): boolean => code >= 97 && code <= 122

/**
 * Finds attack phrases that are broken up (`i g n o r e`, `igno-re prev ious`), run together or written backwards. The
 * rules handle phrases in whole words, because they also recognise mere mentions.
 */
export function splitPhrases(view: View, source: string): { how: string; at: number; end: number }[] {
  const joints = jointsIn(view.text).filter(({ at }) => JOINT.test(lettersAround(view.text, at, NEAR + 3, NEAR - 3)))
  if (!joints.length) return []
  const parts: { start: number; end: number }[] = []
  for (const { before } of joints) {
    const joint = before - 2
    const last = parts.at(-1)
    const [start, end] = [Math.max(0, joint - REACH), joint + REACH]
    if (last && last.end >= start) last.end = end
    else parts.push({ start, end })
  }
  const letters = squeezed(view)
  return parts.flatMap(({ start, end }) =>
    phrasesIn(letters.text.slice(start, end), letters.at.subarray(start), source),
  )
}

function phrasesIn(text: string, at: Int32Array, source: string): { how: string; at: number; end: number }[] {
  const placed = (how: string, { 0: hit, index }: RegExpExecArray) => ({
    how,
    at: at[index]!,
    end: at[index + hit.length - 1]! + 1,
  })
  const forth = [...text.matchAll(PHRASE)]
    .map((hit) => ({ words: hit[0].match(WORD)!.length, found: placed('split words', hit) }))
    .filter(
      ({ words, found }) =>
        source
          .slice(found.at, found.end)
          .split(/[^\p{L}\p{M}\p{Cf}0-9@$!|]+/u)
          .filter(Boolean).length !== words,
    )
  const behind = [...text.matchAll(PHRASE_BACKWARDS)].map((hit) => placed('reversed text', hit))
  return [...forth.map(({ found }) => found), ...behind]
}
