import { matchesOf } from '../matches'
import { runsOf } from '../runs'
import type { Match } from '../schema'
import { FAMILIES, SHAPES } from './families'

/** Runs of the characters keys are made of, as long as the shortest key: only these are searched. */
const LONG = 20
const stretches = runsOf(/[\w.+/=:~-]/, LONG)
const NOT_INSIDE = '(?<![A-Za-z0-9_])'

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
const BY_BEGINNING = FAMILIES.flatMap(({ begins, rest }) =>
  begins.map((begin) => ({ begin, pattern: new RegExp(`${NOT_INSIDE}${escaped(begin)}(?:${rest})`, 'g') })),
)
const ANY_BEGINNING = new RegExp(FAMILIES.flatMap(({ begins }) => begins.map(escaped)).join('|'))
const BY_SHAPE = SHAPES.map((shape) => new RegExp(`${NOT_INSIDE}${shape}`, 'g'))
const SHAPED = /:AA|\.\w{6}\.|atlasv1|Q~|:APA91/

/** Keys of known makers. Most texts have few runs of such length, so this is cheap. */
export function findKnown(text: string): Match[] {
  const found: Match[] = []
  const runs = stretches(text)
  for (let place = 0; place < runs.length; place += 2) {
    const index = runs[place]!
    const stretch = text.slice(index, runs[place + 1]!)
    if (ANY_BEGINNING.test(stretch)) {
      for (const { begin, pattern } of BY_BEGINNING) {
        if (stretch.includes(begin)) add(found, pattern, stretch, index)
      }
    }
    if (SHAPED.test(stretch)) for (const pattern of BY_SHAPE) add(found, pattern, stretch, index)
  }
  return found
}

function add(found: Match[], pattern: RegExp, stretch: string, index: number): void {
  for (const { 0: hit, index: at } of matchesOf(pattern, stretch)) {
    found.push({ start: index + at, end: index + at + hit.length, kind: 'api_key' })
  }
}
