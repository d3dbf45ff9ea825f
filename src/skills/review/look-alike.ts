import { STARTERS } from '../starters'

/** Figures and letters that pass for another at a glance, and pairs that pass for one. */
const GLANCES: readonly (readonly [RegExp, string])[] = [
  [/rn/g, 'm'],
  [/vv/g, 'w'],
  [/cl/g, 'd'],
  [/[1il|]/g, 'l'],
  [/0/g, 'o'],
  [/3/g, 'e'],
  [/4/g, 'a'],
  [/5/g, 's'],
  [/7/g, 't'],
  [/[^a-z]/g, ''],
]
/** Shorter ones are like half the dictionary. */
const LEAST_CHARS = 6

/** A slug as it is seen in passing: without what divides its words, look-alikes as one. */
const seenAs = (slug: string): string =>
  GLANCES.reduce((text, [sign, meant]) => text.replace(sign, meant), slug.toLowerCase())

const KNOWN = STARTERS.map(({ slug }) => ({ slug, seen: seenAs(slug) }))

/** The skill of this server that a slug could be taken for without being it; null for none. */
export function lookAlike(slug: string): string | null {
  if (KNOWN.some((one) => one.slug === slug)) return null
  const seen = seenAs(slug)
  const like = KNOWN.find((one) => one.seen.length >= LEAST_CHARS && isNear(seen, one.seen))
  return like?.slug ?? null
}

/** The same but for one sign added, left out, changed, or two that changed places. */
function isNear(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false
  let start = 0
  while (start < one.length && one[start] === other[start]) start++
  const [rest, otherRest] = [one.slice(start), other.slice(start)]
  if (rest.length !== otherRest.length) {
    return rest.length > otherRest.length ? rest.slice(1) === otherRest : otherRest.slice(1) === rest
  }
  if (rest.slice(1) === otherRest.slice(1)) return true
  return rest[0] === otherRest[1] && rest[1] === otherRest[0] && rest.slice(2) === otherRest.slice(2)
}
