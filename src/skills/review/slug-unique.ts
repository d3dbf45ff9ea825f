import { type Finding, fail, warn } from './check'
import { lookAlike } from './look-alike'

/** Words that are paths of this API, or that would speak for whoever runs it. */
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

/** An id is no name: whoever names a skill by its id would get the one that took the id for its slug. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

type Known = {
  slug: string
  /** Of the skill this is a new version of; null for a new skill. */
  updating: string | null
  /** Who has the slug now, seen from who asks. */
  taken: 'free' | 'own' | 'other'
}

/** One slug, one skill, for ever the same one. */
export function checkSlug({ slug, updating, taken }: Known): Finding[] {
  if (updating !== null) {
    return updating === slug
      ? []
      : [fail('slug', `The slug of a skill stays: this one is "${updating}", and the manifest says "${slug}".`)]
  }
  if (isReserved(slug)) return [fail('slug', `The slug "${slug}" is reserved. Choose another.`)]
  if (taken === 'own') {
    return [
      fail('slug', `You have a skill "${slug}" already. Send its id as "skill_id" to submit a new version of it.`),
    ]
  }
  if (taken === 'other') return [fail('slug', `The slug "${slug}" is taken. Choose another.`)]
  const like = lookAlike(slug)
  return like ? [warn('slug', `The slug "${slug}" looks like "${like}", a skill that ships with this server.`)] : []
}

export const isReserved = (slug: string): boolean => RESERVED.has(slug) || UUID.test(slug)
