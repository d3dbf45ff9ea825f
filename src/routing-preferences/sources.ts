import type { OwnerScope } from '../kernel/caller'
import { compiledOf } from '../kernel/compiled'
import type { KeyId } from '../kernel/ids'
import type { ReadCache } from '../kernel/read-cache'
import { fingerprintOf, NOTHING, readSource, type Source, type Stored } from './guidance'
import type { PreferenceId } from './schema'
import type { PreferenceRow } from './table'

/**
 * What is compiled of a key or a preference, by its fingerprint: the thing itself is heavy, and kept elsewhere. Null
 * where there is none.
 */
export type SourceHead = { fingerprint: string | null }

const compiled = compiledOf<Source>('routing rules')

/** After it was deleted or changed: nothing of it is kept. */
export const dropSource = (id: KeyId | PreferenceId): void => compiled.drop(id)

/** What a key's own rules are besides themselves. */
export const OF_KEY = { preferenceId: null, name: "the key's routing_rules", examples: [] } as const

/** What is stored of a key or a preference, and whose it is. */
export type Owned = Stored & { owner: OwnerScope }

export const ownedOf = ({ id, owner, rules, floors, examples }: PreferenceRow): Owned => ({
  preferenceId: id,
  name: `routing preference ${id}`,
  owner,
  rules,
  floors,
  examples,
})

/** Compiled, or as it was before. */
export const readPreference = (row: PreferenceRow): Promise<Source> => compileOnce(row.id, ownedOf(row))

/** What `read` finds of a key or a preference, compiled; at once when it is. */
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

/** What is stored, compiled; kept for as long as there is room. */
async function compileOnce(id: KeyId | PreferenceId, stored: Owned): Promise<Source> {
  const known = compiled.get(id)
  if (known?.fingerprint === fingerprintOf(stored)) return known
  const source = await readSource(stored)
  compiled.put(id, source, { owner: stored.owner, weight: source.weight })
  return source
}
