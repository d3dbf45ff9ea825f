import { type Finding, fail, warn } from './check'
import { lookAlike } from './look-alike'

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

/** A slug in the form of an id would capture look-ups of the skill with that id. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

type Known = {
  slug: string
  /** Slug of the skill being updated; null for a new skill. */
  updating: string | null
  /** Who has the slug now, from the submitter's point of view. */
  taken: 'free' | 'own' | 'other'
}

/** A slug must be free and not reserved; a skill never changes its slug. */
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
