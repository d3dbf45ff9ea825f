import { STARTERS } from '../starters'
import { type Finding, fail, warn } from './checks'

/** Characters and pairs of characters that look like another letter, replaced in this order. */
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

/** Shorter slugs resemble too many words to be compared. */
const MIN_CHARS = 6

/** Reduces a slug to its appearance: removes separators and unifies look-alike characters. */
const seenAs = (slug: string): string =>
  GLANCES.reduce((text, [sign, meant]) => text.replace(sign, meant), slug.toLowerCase())

const KNOWN = STARTERS.map(({ slug }) => ({ slug, seen: seenAs(slug) }))

/** Slugs that are paths of this API, or that suggest the server's operator is the author. */
const RESERVED = new Set([
  'submit',
  'create',
  'sandbox',
  'earnings',
  'submissions',
  'installed',
  'mine',
  'marketplace',
  'install',
  'review',
  'admin',
  'administrator',
  'root',
  'svc',
  'system',
  'official',
  'support',
  'security',
  'staff',
  'api',
  'null',
  'undefined',
])

/** A slug in the form of an id would capture lookups of the skill with that id. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

type Known = {
  slug: string
  /** Slug of the skill being updated. Null for a new skill. */
  updating: string | null
  /** Who owns the slug now, from the submitter's point of view. */
  taken: 'free' | 'own' | 'other'
}

/** A slug must be free and not reserved. A skill never changes its slug. */
export function checkSlug({ slug, updating, taken }: Known): Finding[] {
  if (updating !== null) {
    return updating === slug
      ? []
      : [fail('slug', `The slug of a skill cannot change: it is "${updating}", but the manifest has "${slug}".`)]
  }
  if (isReserved(slug)) return [fail('slug', `The slug "${slug}" is reserved. Choose another.`)]
  if (taken === 'own') {
    return [
      fail('slug', `You already have a skill "${slug}". To submit a new version of it, send its id as "skill_id".`),
    ]
  }
  if (taken === 'other') return [fail('slug', `The slug "${slug}" is taken. Choose another.`)]
  const like = lookAlike(slug)
  return like ? [warn('slug', `The slug "${slug}" looks like "${like}", a skill that ships with this server.`)] : []
}

export const isReserved = (slug: string): boolean => RESERVED.has(slug) || UUID.test(slug)

/** The bundled skill that could be confused with this slug. Null when there is none, or for a bundled slug. */
export function lookAlike(slug: string): string | null {
  if (KNOWN.some((one) => one.slug === slug)) return null
  const seen = seenAs(slug)
  const like = KNOWN.find((one) => one.seen.length >= MIN_CHARS && isNear(seen, one.seen))
  return like?.slug ?? null
}

/** Whether two texts differ by at most one added, removed or changed character, or two swapped adjacent ones. */
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
