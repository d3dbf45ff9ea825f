import { type OwnerScope, ownerOf, type TenantCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { KeyId } from '../kernel/ids'
import { createReadCache, freshFor } from '../kernel/read-cache'
import type { Store } from '../kernel/store'
import type { KeyBindings } from '../keys'
import { createBeside } from './beside'
import { combine, type Effective, NOTHING, readSource, type Source } from './guidance'
import { createRuleMatcher } from './match'
import { preferenceRepository as rows } from './repository'
import { PreferenceId } from './schema'
import type { PreferenceRow } from './table'

export type EffectiveRouting = ReturnType<typeof createEffective>

type Deps = { store: Store; clock: Clock; bindings: Pick<KeyBindings, 'of'> }

/** What a key says of itself, and which preference it is bound to. */
type OfKey = { own: Source; bound: PreferenceId | null }

const MOST_REMEMBERED = 5_000
const UNBOUND: OfKey = { own: NOTHING, bound: null }

/**
 * What routes a caller's prompts (contract 13): rules of the key, then the preference it is bound to, else the
 * default of its owner's scope. A preference that is bound takes the default's place altogether. Costs no query
 * while nothing changed; another node sees a change within a second (I26).
 */
export function createEffective({ store, clock, bindings }: Deps) {
  const options = { max: MOST_REMEMBERED, maxAgeMs: freshFor(store.dialect), clock }
  const keys = createReadCache<KeyId, OfKey>(options)
  const sources = createReadCache<PreferenceId | OwnerScope, Source>(options)
  const beside = createBeside({ clock })
  const combined = new WeakMap<Source, WeakMap<Source, Effective>>()

  return {
    /** At once when remembered. */
    of(caller: TenantCaller): Effective | Promise<Effective> {
      const ofKey = caller.type === 'key' ? keys.get(caller.keyId, readKey) : UNBOUND
      return ofKey instanceof Promise ? ofKey.then((key) => withActive(key!, caller)) : withActive(ofKey, caller)
    },
    /** Say so after the commit that changed what is bound to a key. */
    forgetKey: (id: KeyId): void => keys.forget(id),
    /** The same for a preference, which may be the default of its owner, or have been. */
    forgetPreference(id: PreferenceId, owner: OwnerScope): void {
      sources.forget(id)
      sources.forget(owner)
    },
    /** A preference as it would route, whoever has it. */
    readPreference,
    ready: createRuleMatcher({ beside, clock }),
    attackOn: beside.attackOn,
  }

  function withActive({ own, bound }: OfKey, caller: TenantCaller): Effective | Promise<Effective> {
    const active = bound ? sources.get(bound, readBound) : sources.get(ownerOf(caller), readDefault)
    return active instanceof Promise ? active.then((source) => merged(own, source!)) : merged(own, active)
  }

  function merged(own: Source, active: Source): Effective {
    const known = combined.get(own) ?? new WeakMap<Source, Effective>()
    combined.set(own, known)
    const effective = known.get(active) ?? combine(own, active)
    known.set(active, effective)
    return effective
  }

  async function readKey(id: KeyId): Promise<OfKey> {
    const found = await bindings.of(store.read, id)
    if (!found) return UNBOUND
    const { routing_preference_id: bound, routing_rules: rules, routing_floors: floors } = found
    const isBare = !rules && !floors
    const own = isBare ? NOTHING : await readSource({ ...OF_KEY, rules: rules ?? [], floors: floors ?? {} })
    return { own, bound: bound !== null && PreferenceId.is(bound) ? bound : null }
  }

  async function readBound(id: PreferenceId | OwnerScope): Promise<Source> {
    const row = await rows.bound(store.read, id as PreferenceId)
    return row ? readPreference(row) : NOTHING
  }

  async function readDefault(owner: PreferenceId | OwnerScope): Promise<Source> {
    const row = await rows.defaultOf(store.read, owner as OwnerScope)
    return row ? readPreference(row) : NOTHING
  }
}

const OF_KEY = { preferenceId: null, name: "the key's routing_rules", examples: [] } as const

const readPreference = ({ id, rules, floors, examples }: PreferenceRow): Promise<Source> =>
  readSource({ preferenceId: id, name: `routing preference ${id}`, rules, floors, examples })
