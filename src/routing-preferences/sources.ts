import type { OwnerScope } from '../kernel/caller'
import { compiledOf } from '../kernel/compiled'
import type { KeyId } from '../kernel/ids'
import type { ReadCache } from '../kernel/read-cache'
import { fingerprintOf, NOTHING, readSource, type Source, type Stored } from './guidance'
import type { PreferenceId } from './schema'
import type { PreferenceRow } from './table'

/**
 * The fingerprint of the compiled rules of a key or a preference; null when there is none. The compiled rules
 * themselves are large and are kept in `compiled`.
 */
export type SourceHead = { fingerprint: string | null }

const compiled = compiledOf<Source>('routing rules')

/** Drops the compiled rules of a key or preference that was changed or deleted. */
export const dropSource = (id: KeyId | PreferenceId): void => compiled.drop(id)

/** The other members that a key's own rules have as a source. */
export const OF_KEY = { preferenceId: null, name: "the key's routing_rules", examples: [] } as const

/** The stored rules of a key or a preference, with their owner. */
export type Owned = Stored & { owner: OwnerScope }

export const ownedOf = ({ id, owner, rules, floors, examples }: PreferenceRow): Owned => ({
  preferenceId: id,
  name: `routing preference ${id}`,
  owner,
  rules,
  floors,
  examples,
})

/** The compiled rules of a preference, from the cache when they have not changed. */
export const readPreference = (row: PreferenceRow): Promise<Source> => compileOnce(row.id, ownedOf(row))

/** The compiled rules of a key or a preference, which `read` loads; synchronous when they are cached. */
export function sourceBy<K extends KeyId | PreferenceId>(
  cache: ReadCache<K, SourceHead>,
  id: K,
  read: () => Promise<Owned | null>,
): Source | Promise<Source> {
  const compile = async () => {
    const stored = await read()
    return stored && compileOnce(id, stored)
  }
  const follow = ({ fingerprint }: SourceHead) => {
    if (fingerprint === null) return NOTHING
    const known = compiled.get(id)
    return known?.fingerprint === fingerprint ? known : compile().then((source) => source ?? NOTHING)
  }
  const head = cache.get(id, async () => ({ fingerprint: (await compile())?.fingerprint ?? null }))
  return head instanceof Promise ? head.then((found) => follow(found!)) : follow(head)
}

/** Compiles stored rules, and caches the result while there is room. */
async function compileOnce(id: KeyId | PreferenceId, stored: Owned): Promise<Source> {
  const known = compiled.get(id)
  if (known?.fingerprint === fingerprintOf(stored)) return known
  const source = await readSource(stored)
  compiled.put(id, source, { owner: stored.owner, weight: source.weight })
  return source
}
