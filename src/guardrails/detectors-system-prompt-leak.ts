import { decodedPieces, reading, remember } from '../text'
import { DEFAULT_THRESHOLD, defineGuardrail, type Match, ThresholdOnly } from './guardrail'

/** Minimum length of a common run of letters. Runs of this length match by chance only in set phrases. */
const RUN = 14
/** Shorter passages contain nothing worth protecting, for example `You are a helpful assistant.` */
const MIN_PASSAGE = 36

type Letters = { text: string; at: Int32Array }
type Passage = { start: number; end: number }
type Prompt = { letters: string; runs: Map<string, number[]>; passages: readonly Passage[] }

export const systemPromptLeak = defineGuardrail({
  id: 'system_prompt_leak',
  description:
    'Answers that repeat a passage of the system prompt, including with changed spaces or signs between its letters, backwards, in rot13 or in base64. Does not find translations',
  phases: ['output'],
  verdicts: ['block', 'redact', 'flag'],
  config: ThresholdOnly,
  prepare({ threshold = DEFAULT_THRESHOLD }) {
    return (text, { systemPrompt }) => {
      if (!systemPrompt) return null
      const prompt = promptOf(systemPrompt)
      const leaks = [...leaksInPlain(text, prompt, threshold), ...leaksInDecoded(text, prompt, threshold)]
      if (!leaks.length) return null
      return { detail: 'repeats a passage of the system prompt', matches: leaks.sort((a, b) => a.start - b.start) }
    }
  },
})

/** Cached, because many answers have the same prompt. */
const promptOf = remember((source: string): Prompt => {
  const { text: letters, at } = lettersOf(source)
  const runs = new Map<string, number[]>()
  for (let index = 0; index + RUN <= letters.length; index++) {
    const run = letters.slice(index, index + RUN)
    const known = runs.get(run)
    // A few positions are enough for a run that the prompt repeats often.
    if (!known) runs.set(run, [index])
    else if (known.length < 4) known.push(index)
  }
  return { letters, runs, passages: passagesOf(source, at) }
})

/** Sentences and lines as offsets of the letters. Short ones are joined with the following ones. */
function passagesOf(source: string, at: Int32Array): Passage[] {
  const edges = [0]
  for (let index = 1; index < at.length; index++) {
    if (SENTENCE_END.test(source.slice(at[index - 1]! + 1, at[index]))) edges.push(index)
  }
  edges.push(at.length)
  const passages: Passage[] = []
  let next = 0
  for (const start of edges.slice(0, -1)) {
    while (next < edges.length && edges[next]! - start < MIN_PASSAGE) next++
    if (next < edges.length) passages.push({ start, end: edges[next]! })
  }
  return passages
}

const SENTENCE_END = /[.!?。！？]\s|[\n。！？]/
const WORD = /[\p{L}\p{N}]/u

/** The letters and digits of a text without other characters. `at` maps each letter to its original offset. */
function lettersOf(source: string): Letters {
  const { text, at } = reading(source)
  const places = new Int32Array(text.length)
  let letters = ''
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const isWord = code < 0x80 ? (code >= 97 && code <= 122) || (code >= 48 && code <= 57) : WORD.test(text[index]!)
    if (!isWord) continue
    places[letters.length] = at[index]!
    letters += text[index]
  }
  return { text: letters, at: places.slice(0, letters.length) }
}

function leaksInPlain(source: string, prompt: Prompt, threshold: number): Match[] {
  const { text, at } = lettersOf(source)
  const matchOf = ({ start, end }: Passage): Match => ({
    start: at[start]!,
    end: at[end - 1]! + 1,
    kind: 'system_prompt',
  })
  const behind = ({ start, end }: Passage): Passage => ({ start: text.length - end, end: text.length - start })
  return [
    ...leaksIn(text, prompt, threshold),
    ...leaksIn(
      text.replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 84) % 26) + 97)),
      prompt,
      threshold,
    ),
    ...leaksIn([...text].reverse().join(''), prompt, threshold).map(behind),
  ].map(matchOf)
}

function leaksInDecoded(source: string, prompt: Prompt, threshold: number): Match[] {
  return decodedPieces(source)
    .filter(({ text }) => leaksIn(lettersOf(text).text, prompt, threshold).length > 0)
    .map(({ at }) => ({ start: at, end: endOfStretch(source, at), kind: 'system_prompt' }))
}

const endOfStretch = (source: string, at: number): number => {
  const blank = source.slice(at).search(/[^\w+/=%\\&#;{},\s-]|\s(?![\w+/=%\\&#]{8})/)
  return blank < 0 ? source.length : at + blank
}

/**
 * The places where letters repeat a passage of the prompt: common runs cover at least the share `threshold` of it.
 * Linear, because every run is looked up once.
 */
function leaksIn(letters: string, { runs, passages, letters: whole }: Prompt, threshold: number): Passage[] {
  const covered = new Uint8Array(whole.length)
  const spots: { spot: number; index: number }[] = []
  for (let spot = 0; spot + RUN <= letters.length; spot++) {
    for (const index of runs.get(letters.slice(spot, spot + RUN)) ?? []) {
      covered.fill(1, index, index + RUN)
      spots.push({ spot, index })
    }
  }
  if (!spots.length) return []
  const leaked = passages.filter(({ start, end }) => shareOf(covered, start, end) >= threshold)
  if (!leaked.length) return []
  const isLeaked = new Uint8Array(whole.length)
  for (const { start, end } of leaked) isLeaked.fill(1, start, end)
  const inLeaked = spots.filter(({ index }) => isLeaked[index])
  return joined(inLeaked.map(({ spot }) => ({ start: spot, end: spot + RUN })))
}

function shareOf(covered: Uint8Array, start: number, end: number): number {
  let sum = 0
  for (let index = start; index < end; index++) sum += covered[index]!
  return sum / (end - start)
}

/** Merges passages that touch or nearly touch. */
function joined(places: readonly Passage[]): Passage[] {
  const out: Passage[] = []
  for (const { start, end } of places) {
    const last = out.at(-1)
    if (last && start <= last.end + RUN) last.end = Math.max(last.end, end)
    else out.push({ start, end })
  }
  return out
}
