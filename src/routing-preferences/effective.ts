import { type KeyCaller, type OwnerScope, ownerOf, type SessionCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { KeyId, OrgId } from '../kernel/ids'
import { createReadCache, freshFor } from '../kernel/read-cache'
import type { Store } from '../kernel/store'
import type { KeyBindings } from '../keys'
import { createPatternChecks, createPatternWorker } from '../text'
import { combine, type Effective, NOTHING, type Source } from './guidance'
import { createRuleMatcher } from './match'
import { routingPreference } from './resource'
import { PreferenceId } from './schema'
import { dropSource, OF_KEY, type Owned, ownedOf, readPreference, type SourceHead, sourceBy } from './sources'

const { rows } = routingPreference

export type EffectiveRouting = ReturnType<typeof createEffective>

type Deps = { store: Store; clock: Clock; bindings: Pick<KeyBindings, 'of'> }

/** The members of a caller that routing needs. */
export type Asker =
  | Pick<KeyCaller, 'type' | 'keyId' | 'orgId' | 'userId'>
  | (Pick<SessionCaller, 'type' | 'userId'> & { orgId: OrgId | null })

/** Whether a key has rules or floors of its own, and the preference it is bound to. */
type KeyHead = { hasOwn: boolean; preference: PreferenceId | null }
/** The default preference of an owner. */
type OwnerHead = { preference: PreferenceId | null }

const MOST_HEADS = 20_000
const NO_KEY: KeyHead = { hasOwn: false, preference: null }

/**
 * The routing in force for a caller (contract 13): the rules of the key, then the preference bound to it or, without
 * one, the default preference of the caller's owner scope. Cached, so it costs no query while nothing changes; another
 * node sees a change within a second (I26).
 */
export function createEffective({ store, clock, bindings }: Deps) {
  const options = { maxAgeMs: freshFor(store.dialect), clock }
  const keys = createReadCache<KeyId, KeyHead>({ ...options, max: MOST_HEADS })
  const owners = createReadCache<OwnerScope, OwnerHead>({ ...options, max: MOST_HEADS })
  const ofKeys = createReadCache<KeyId, SourceHead>({ ...options, max: MOST_HEADS })
  const preferences = createReadCache<PreferenceId, SourceHead>({ ...options, max: MOST_HEADS })
  const worker = createPatternWorker({ clock })
  const combined = new WeakMap<Source, WeakMap<Source, Effective>>()

  return {
    /** Synchronous when cached. */
    of(caller: Asker): Effective | Promise<Effective> {
      const found = caller.type === 'key' ? keys.get(caller.keyId, readKeyHead) : NO_KEY
      return found instanceof Promise ? found.then((head) => underHead(head!, caller)) : underHead(found, caller)
    },
    /** To be called after the commit that changed the bindings of a key. */
    forgetKey(id: KeyId): void {
      keys.forget(id)
      ofKeys.forget(id)
      dropSource(id)
    },
    /** The same for a changed preference. Its owner's default is forgotten too, as it may be or have been this one. */
    forgetPreference(id: PreferenceId, owner: OwnerScope): void {
      preferences.forget(id)
      owners.forget(owner)
      dropSource(id)
    },
    readPreference,
    ready: createRuleMatcher({ worker, clock }),
    /** Checks the patterns of one request body before they are saved or tried. */
    patternChecks: createPatternChecks({ clock }),
  }

  function underHead(head: KeyHead, caller: Asker): Effective | Promise<Effective> {
    const own = head.hasOwn && caller.type === 'key' ? ofKey(caller.keyId, ownerOf(caller)) : NOTHING
    const active = head.preference ? ofPreference(head.preference) : ofOwner(ownerOf(caller))
    if (!(own instanceof Promise) && !(active instanceof Promise)) return merged(own, active)
    return Promise.all([own, active]).then(([mine, theirs]) => merged(mine, theirs))
  }

  function ofKey(id: KeyId, owner: OwnerScope): Source | Promise<Source> {
    return sourceBy(ofKeys, id, () => readOwn(id, owner))
  }

  function ofPreference(id: PreferenceId): Source | Promise<Source> {
    return sourceBy(preferences, id, () => readBound(id))
  }

  function ofOwner(owner: OwnerScope): Source | Promise<Source> {
    const found = owners.get(owner, readOwnerHead)
    const follow = ({ preference }: OwnerHead) => (preference ? ofPreference(preference) : NOTHING)
    return found instanceof Promise ? found.then((head) => follow(head!)) : follow(found)
  }

  function merged(own: Source, active: Source): Effective {
    const known = combined.get(own) ?? new WeakMap<Source, Effective>()
    combined.set(own, known)
    const effective = known.get(active) ?? combine(own, active)
    known.set(active, effective)
    return effective
  }

  async function readKeyHead(id: KeyId): Promise<KeyHead> {
    const found = await bindings.of(store.read, id)
    if (!found) return NO_KEY
    const { routing_preference_id: bound, routing_rules: rules, routing_floors: floors } = found
    const preference = bound !== null && PreferenceId.is(bound) ? bound : null
    return { hasOwn: rules !== null || floors !== null, preference }
  }

  async function readOwn(id: KeyId, owner: OwnerScope): Promise<Owned> {
    const found = await bindings.of(store.read, id)
    return { ...OF_KEY, owner, rules: found?.routing_rules ?? [], floors: found?.routing_floors ?? {} }
  }

  async function readOwnerHead(owner: OwnerScope): Promise<OwnerHead> {
    return { preference: (await rows.defaultOf(store.read, owner))?.id ?? null }
  }

  async function readBound(id: PreferenceId): Promise<Owned | null> {
    const row = await rows.find(store.read, 'everyone', id)
    return row ? ownedOf(row) : null
  }
}
