import type { Color } from './model'
import { MOTIFS } from './motifs'
import type { Motif } from './motifs/motif'
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
}

const BY_WORD = new Map(MOTIFS.flatMap((motif) => motif.words.map((word) => [word, motif] as const)))

/** The most different things in one picture, and the most of one kind. */
const [MAX_KINDS, MAX_OF_ONE] = [5, 7]

function motifNamed(word: string): Motif | undefined {
  const forms = [word, PLURALS[word] ?? '', word.replace(/es$/, ''), word.replace(/s$/, '')]
  return forms.map((form) => BY_WORD.get(form)).find((motif) => motif !== undefined)
}

/** The things that a text names, in its order, with how many of each and in which colour. */
export function subjectsIn(text: string): Subject[] {
  const words = text.match(/[\p{L}\p{N}'-]+/gu) ?? []
  const found: Subject[] = []
  for (let at = 0; at < words.length && found.length < MAX_KINDS; at += 1) {
    const pair = motifNamed(`${words[at]} ${words[at + 1] ?? ''}`)
    const single = motifNamed(words[at]!)
    const hit = pair ?? single
    if (!hit) continue
    // "Pine trees" are pines and not trees as well.
    const isPair = pair !== undefined || (hit.name === 'pine' && /^trees?$/.test(words[at + 1] ?? ''))
    const last = words[isPair ? at + 1 : at]!
    if (!found.some(({ motif }) => motif === hit)) found.push({ motif: hit, ...countAndColor(words, at, last) })
    if (isPair) at += 1
  }
  return found
}

function countAndColor(words: readonly string[], at: number, last: string): Pick<Subject, 'count' | 'color'> {
  const before = words.slice(Math.max(0, at - 3), at)
  const stated = before.map((word) => NUMBERS[word] ?? (/^\d$/.test(word) ? Number(word) : 0)).findLast((n) => n > 0)
  const isMany = last.endsWith('s') && !BY_WORD.has(last)
  return {
    count: Math.min(isMany && (stated ?? 1) < 2 ? 3 : (stated ?? 1), MAX_OF_ONE),
    color:
      before
        .slice(-2)
        .map(colorNamed)
        .findLast((color) => color !== null) ?? null,
  }
}
