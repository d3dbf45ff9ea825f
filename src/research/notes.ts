import { commandChance, contentWords, scanForInjection } from '../text'
import { differenceOf, figuresIn, indexesOfCopies, overlap } from './differences'
import { MAX_CHARS, type Passage, passagesOf } from './passages'

/** A source to take notes from. Sources are ordered, best first. */
export type SourceText = { title: string; text: string }

/** A quotable sentence. Offsets are UTF-16 units of the text of its source. */
export type Note = Passage & {
  /** Index of its source. */
  source: number
  score: number
  /** Notes of other sources with the same statement. */
  alike: readonly Omit<Note, 'alike'>[]
}

export type Reading = {
  notes: Note[]
  /** Sources that copy an earlier one, with its index. */
  copies: { source: number; of: number }[]
  /** Sources that contain a command to the reader, with the kind of command. Its sentences are not quoted. */
  commanding: { source: number; about: string }[]
}

type Input = { question: string; sources: readonly SourceText[]; maxNotes: number; maxOfSource: number }

/** A line that occurs on this many pages is boilerplate. */
const OF_SITE = 3
/** Two notes that share this much of their words are equal. */
const ALIKE = 0.72
const ASKS_FIGURE =
  /\b(?:how (?:many|much|long|far|tall|old|often)|when|what year|price|cost|rate|percent\w*|number)\b/i
const ENOUGH_MATCH = 0.18

/** Reads sources for a question. Returns notes, best first, without duplicates, boilerplate or commands. */
export function readSources({ question, sources, maxNotes, maxOfSource }: Input): Reading {
  const copyOf = indexesOfCopies(sources.map(({ text }) => text))
  const commanding: Reading['commanding'] = []
  const passages = sources.map(({ text }, source) => {
    const stretches = commandsIn(text.slice(0, MAX_CHARS))
    if (stretches[0]) commanding.push({ source, about: stretches[0].about })
    return passagesOf(text).filter(({ start, end }) => !stretches.some((one) => one.start < end && start < one.end))
  })
  const own = withoutCopied(withoutBoilerplate(passages, copyOf), copyOf)
  const ranked = rank(question, sources, own, maxOfSource).filter(({ source, start, end }) => {
    const paragraph = paragraphOf(sources[source]!.text, start, end)
    // Whether the paragraph only states figures in English, without a word that addresses the reader.
    const onlyTells = TELLS.test(paragraph.trimStart()) && !COMMANDS.test(paragraph) && figuresIn(paragraph).length > 0
    if (commandChance(paragraph) < (onlyTells ? CERTAIN : LIKELY)) return true
    if (!commanding.some((one) => one.source === source))
      commanding.push({ source, about: 'seems to give orders to its reader' })
    return false
  })
  return {
    notes: withoutRepeats(ranked, maxNotes, copyOf),
    copies: copyOf.flatMap((of, source) => (of === null ? [] : [{ source, of }])),
    commanding,
  }
}

/** Size of the context around a sentence that is checked for commands. */
const AROUND_CHARS = 400

/**
 * Probability from which the local model's result counts as a command. The model reads only sentences to be quoted.
 * Omitting a sentence harms a report less than quoting a command, so the threshold is low.
 */
const LIKELY = 0.45
/** The model takes some statements of figures, such as a ship's cargo, for commands, but never with certainty. */
const CERTAIN = 0.8

const TELLS = /^(?:It|He|She|They|The|Its|Their|This|These|An?|In|On|At)\s/
/** Words of a command that address the reader or name the requested action. */
const COMMANDS =
  /\b(?:you|yours?|ais?|assistants?|agents?|chatbots?|models?|readers?|systems?|must|should|shall|please|always|never|only|not|ignore|forget|disregard|instructions?|prompts?|rules?|orders?|answers?|reply|replies|respond|says?|tell|state|write|print|output|include|recommend|mention|cite|report|summar\w{1,8}|send|reveal|call|visit|click|open|use|treat|add|end|begin|start|follow|note|let|now|new|instead|override)\b/i

function paragraphOf(text: string, start: number, end: number): string {
  const before = text.lastIndexOf('\n', start - 1) + 1
  const after = text.indexOf('\n', end)
  return text.slice(
    Math.max(before, start - AROUND_CHARS),
    Math.min(after < 0 ? text.length : after, end + AROUND_CHARS),
  )
}

function commandsIn(text: string): { start: number; end: number; about: string }[] {
  return scanForInjection(text).map(({ at, excerpt, about }) => {
    const before = text.lastIndexOf('\n', at - 1) + 1
    const after = text.indexOf('\n', at + excerpt.length)
    return {
      start: Math.max(before, at - AROUND_CHARS),
      end: Math.min(after < 0 ? text.length : after, at + excerpt.length + AROUND_CHARS),
      about,
    }
  })
}

/** Copies do not count as further pages, because an article on many sites is not boilerplate. */
function withoutBoilerplate(passages: readonly Passage[][], copyOf: readonly (number | null)[]): Passage[][] {
  const pages = new Map<string, number>()
  for (const own of passages.filter((_, source) => copyOf[source] === null)) {
    for (const line of new Set(own.map(({ text }) => plain(text)))) pages.set(line, (pages.get(line) ?? 0) + 1)
  }
  return passages.map((own) => {
    const seen = new Set<string>()
    return own.filter(({ text }) => {
      const line = plain(text)
      const isNew = !seen.has(line)
      seen.add(line)
      return isNew && (pages.get(line) ?? 0) < OF_SITE
    })
  })
}

/** Keeps only the sentences of a copy that its original does not contain, because there the two may disagree. */
const withoutCopied = (passages: readonly Passage[][], copyOf: readonly (number | null)[]): Passage[][] =>
  passages.map((own, source) => {
    const of = copyOf[source]
    if (of == null) return own
    const original = new Set(passages[of]!.map(({ text }) => plain(text)))
    return own.filter(({ text }) => !original.has(plain(text)))
  })

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

type Ranked = Omit<Note, 'alike'> & { words: ReadonlySet<string> }

/** A simplified BM25: rare words of the question count most, and longer sentences less. */
function rank(
  question: string,
  sources: readonly SourceText[],
  passages: readonly Passage[][],
  maxOfSource: number,
): Ranked[] {
  const questionWords = [...new Set(contentWords(question))]
  const all = passages.flatMap((own, source) =>
    own.map((passage, at) => ({ ...passage, source, at, words: new Set(contentWords(passage.text)) })),
  )
  const weights = weightsOf(questionWords, all)
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  const wantsFigure = ASKS_FIGURE.test(question)
  const central = total === 0 ? centralityOf(all) : null
  const scored = all.map(({ at, ...one }) => {
    const hits = questionWords.reduce((sum, word) => sum + (one.words.has(word) ? weights.get(word)! : 0), 0)
    const match = central ? central(one.words) : hits / total
    const titled = contentWords(sources[one.source]!.title).some((word) => weights.has(word)) ? 0.05 : 0
    const figure = wantsFigure && match > 0 && figuresIn(one.text).length ? 0.15 : 0
    const early = 0.05 / (1 + at / 4)
    const place = 0.05 / (1 + one.source / 4)
    const length = 1 / (1 + Math.max(0, one.words.size - 25) / 40)
    return { ...one, match, score: (match + titled + figure) * length + early + place }
  })
  const best = Math.max(0, ...scored.map(({ match }) => match))
  const worth = scored.filter(({ match }) => match > 0 && match >= Math.min(ENOUGH_MATCH, best / 2))
  return ofEachSource(worth, maxOfSource).sort((a, b) => b.score - a.score || a.source - b.source || a.start - b.start)
}

function weightsOf(words: readonly string[], all: readonly { words: ReadonlySet<string> }[]): Map<string, number> {
  const weights = new Map<string, number>()
  for (const word of words) {
    const having = all.filter(({ words }) => words.has(word)).length
    if (having) weights.set(word, Math.log(1 + all.length / having))
  }
  return weights
}

/** For a question without content words: how much a sentence has in common with all sources. */
function centralityOf(all: readonly { words: ReadonlySet<string> }[]): (words: ReadonlySet<string>) => number {
  const counts = new Map<string, number>()
  for (const { words } of all) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  const max = Math.max(1, ...counts.values())
  return (words) => {
    let sum = 0
    for (const word of words) sum += (counts.get(word)! - 1) / max
    return sum / Math.sqrt(words.size + 4)
  }
}

function ofEachSource<One extends Ranked>(all: readonly One[], max: number): One[] {
  const counts = new Map<number, number>()
  return [...all]
    .sort((a, b) => b.score - a.score)
    .filter(({ source }) => {
      const count = counts.get(source) ?? 0
      counts.set(source, count + 1)
      return count < max
    })
}

/** Attaches an equal note of another source to the first one. Drops notes of copies, because they prove nothing. */
function withoutRepeats(ranked: readonly Ranked[], max: number, copyOf: readonly (number | null)[]): Note[] {
  const stored: (Ranked & { alike: Omit<Note, 'alike'>[] })[] = []
  for (const one of ranked) {
    const same = stored.find(
      ({ words, text }) => overlap(words, one.words) >= ALIKE && differenceOf(text, one.text) === null,
    )
    if (!same && stored.length < max) stored.push({ ...one, alike: [] })
    else if (
      same &&
      same.source !== one.source &&
      copyOf[one.source] === null &&
      !same.alike.some(({ source }) => source === one.source)
    ) {
      same.alike.push(noteOf(one))
    }
  }
  return stored.map(({ alike, ...one }) => ({ ...noteOf(one), alike }))
}

const noteOf = ({ source, start, end, text, score }: Ranked): Omit<Note, 'alike'> => ({
  source,
  start,
  end,
  text,
  score,
})
