import type { Color } from './model'
import { iconMotifs } from './motifs/icons'
import type { Motif } from './motifs/motif'
import { OWN } from './motifs/own'
import { colorNamed } from './palette'

export type Subject = { motif: Motif; count: number; color: Color | null }

const NUMBERS: Record<string, number> = {
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  pair: 2,
  couple: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  several: 3,
  some: 3,
  few: 3,
  many: 5,
}

const PLURALS: Record<string, string> = {
  people: 'person',
  wolves: 'wolf',
  foxes: 'fox',
  leaves: 'leaf',
  children: 'child',
  men: 'man',
  women: 'woman',
  butterflies: 'butterfly',
  puppies: 'puppy',
  bunnies: 'bunny',
  cities: 'city',
  daisies: 'daisy',
  ponies: 'pony',
  trophies: 'trophy',
  mice: 'mouse',
  geese: 'goose',
  teeth: 'tooth',
  feet: 'foot',
  knives: 'knife',
  oxen: 'ox',
}

let nouns: Map<string, Motif> | null = null

/** Motifs by name, singular and plural. Own motifs come first, aliases of the icon set last. */
function byWord(): Map<string, Motif> {
  if (nouns) return nouns
  nouns = new Map()
  const all = [...OWN, ...iconMotifs()]
  const named = all.flatMap((motif) => motif.words.map((word, at) => ({ motif, word, isAlias: at > 0 })))
  const plain = named.filter(({ motif, isAlias }) => !isAlias || motif.draw)
  for (const { word, motif } of [...plain, ...named]) if (!nouns.has(word)) nouns.set(word, motif)
  for (const [word, motif] of [...nouns])
    for (const form of singulars(word)) if (!nouns.has(form)) nouns.set(form, motif)
  return nouns
}

/** The most different subjects in one picture, and the most of one kind. */
const [MAX_KINDS, MAX_OF_ONE] = [5, 7]

const singulars = (words: string): string[] => {
  const [, before = '', last = ''] = /^(.* )?(\S+)$/.exec(words) ?? []
  const irregular = PLURALS[last]
  const forms = irregular
    ? [irregular]
    : last.endsWith('ies')
      ? [`${last.slice(0, -3)}y`, last.slice(0, -1)]
      : last.endsWith('s') && !last.endsWith('ss') && last.length > 3
        ? [last.slice(0, -1), ...(last.endsWith('es') ? [last.slice(0, -2)] : [])]
        : []
  return forms.map((form) => before + form)
}

const motifNamed = (words: string): Motif | undefined =>
  [words, ...singulars(words)].map((form) => byWord().get(form)).find((motif) => motif !== undefined)

/** Words after a fruit that is also a colour. */
const AFTER = /^(?:|and|or|with|on|in|at|by|near|under|over|beside|behind)$/

/** The most words in a name. */
const LONGEST = 4

/** The subjects in a text in order, with their count and colour. */
export function subjectsIn(text: string): Subject[] {
  const words = text.match(/[\p{L}\p{N}'-]+/gu) ?? []
  const found: Subject[] = []
  for (let at = 0; at < words.length && found.length < MAX_KINDS; at += 1) {
    const length = Array.from({ length: LONGEST }, (_, less) => LONGEST - less).find(
      (many) => at + many <= words.length && motifNamed(words.slice(at, at + many).join(' ')),
    )
    if (!length) continue
    // "An orange" is a fruit, "orange sky" and "in orange" are a colour.
    const isCounted = Object.hasOwn(NUMBERS, words[at - 1] ?? '') && AFTER.test(words[at + 1] ?? '')
    if (length === 1 && colorNamed(words[at]!) !== null && !isCounted) continue
    const hit = motifNamed(words.slice(at, at + length).join(' '))!
    const last = words[at + length - 1]!
    if (!found.some(({ motif }) => motif === hit)) found.push({ motif: hit, ...countAndColor(words, at, last) })
    at += length - 1
  }
  return found
}

function countAndColor(words: readonly string[], at: number, last: string): Pick<Subject, 'count' | 'color'> {
  const before = words.slice(Math.max(0, at - 3), at)
  const stated = before.map((word) => NUMBERS[word] ?? (/^\d$/.test(word) ? Number(word) : 0)).findLast((n) => n > 0)
  const isMany = last.endsWith('s') && !byWord().has(last)
  return {
    count: Math.min(isMany && (stated ?? 1) < 2 ? 3 : (stated ?? 1), MAX_OF_ONE),
    color:
      before
        .slice(-2)
        .map(colorNamed)
        .findLast((color) => color !== null) ?? null,
  }
}
