import type { KeyBindings } from '../accounts'
import { type Call, type Caller, type KeyCaller, type OwnerScope, ownerOf, type SessionCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { compiledOf } from '../kernel/compiled'
import { sha256Hex } from '../kernel/crypto'
import type { KeyId, OrgId } from '../kernel/ids'
import { nextTurn } from '../kernel/loop'
import { createReadCache, type ReadCache } from '../kernel/read-cache'
import type { Store } from '../kernel/store'
import {
  BUDGET_MS,
  compilePattern,
  createPatternChecks,
  createPatternWorker,
  PatternRefused,
  type PatternWorker,
  type RulePattern,
  type Trial,
} from '../text'
import { routingPreference } from './resource'
import { type Floors, PreferenceId, type RoutingExample, type RoutingRule } from './schema'
import type { Rule } from './stages'
import type { PreferenceRow } from './table'

/** A stored rule with its pattern compiled. */
export type ReadyRule = Rule & {
  /** Maximum matching steps per character of a prompt. Infinite for a pattern that must not run on the event loop. */
  steps: number
}

/** Rules, floors and examples of one source: a key or a preference. */
export type Source = {
  preferenceId: PreferenceId | null
  rules: readonly ReadyRule[]
  floors: Floors
  examples: readonly RoutingExample[]
  /** Warnings about rules that could not be used. */
  warnings: readonly string[]
  fingerprint: string
  /** Estimated bytes in memory. */
  weight: number
}

/**
 * The rules, floors and examples that apply to a caller in `auto`, in the order of docs/api.md 13. They guide the
 * classifier. `fingerprint` changes with any of them and with the preference's id, because answers name the preference.
 * It is empty when nothing is configured.
 */
export type Effective = Omit<Source, 'preferenceId' | 'weight'> & {
  /** The preference that applies: the bound one, else the default of the owner's scope. */
  preferenceId: PreferenceId | null
  /** Maximum number of matching steps of all rules together per character of a prompt. */
  steps: number
}

export const NOTHING: Source = {
  preferenceId: null,
  rules: [],
  floors: {},
  examples: [],
  warnings: [],
  fingerprint: '',
  weight: 0,
}

type Stored = {
  preferenceId: PreferenceId | null
  /** The name of the source in warnings. */
  name: string
  rules: readonly RoutingRule[]
  floors: Floors
  examples: readonly RoutingExample[]
}

/** Compiles stored rules. A rule that this version no longer accepts is skipped with a warning. */
export async function readSource(stored: Stored): Promise<Source> {
  const { preferenceId, name, rules, floors, examples } = stored
  let weight = BYTES_A_CHAR * JSON.stringify([rules, examples]).length
  const ready: ReadyRule[] = []
  const warnings: string[] = []
  for (const [index, rule] of rules.entries()) {
    const pattern = readStored(rule.pattern)
    weight += BASE_BYTES + (pattern?.weight ?? 0)
    if (pattern)
      ready.push({
        mode: rule.target_mode,
        engine: rule.target_engine,
        confidence: rule.confidence,
        preferenceId,
        pattern: rule.pattern,
        steps: pattern.steps,
        reasoning: rule.description ?? `rule ${index + 1} of ${name}`,
        matches: pattern.test,
      })
    else warnings.push(`Rule ${index + 1} of ${name} was skipped: its pattern no longer works here. Save it again.`)
    await nextTurn()
  }
  return { preferenceId, rules: ready, floors, examples, warnings, fingerprint: fingerprintOf(stored), weight }
}

/** Estimated bytes of a rule besides its pattern, and of a stored character. */
const BASE_BYTES = 1_024
const BYTES_A_CHAR = 8

/** Hash of the preference's id and all routing content. Empty when nothing is configured. */
function fingerprintOf({ preferenceId, rules, floors, examples }: Stored): string {
  const isNothing = preferenceId === null && !rules.length && !examples.length && !Object.keys(floors).length
  return isNothing ? '' : sha256Hex(JSON.stringify([preferenceId, rules, Object.entries(floors).sort(), examples]))
}

function readStored(source: string): RulePattern | null {
  try {
    return compilePattern(source)
  } catch (error) {
    if (error instanceof PatternRefused) return null
    throw error
  }
}

/**
 * Combines the key's own rules, which come first, with the rules of the active preference. A floor of the key replaces
 * the preference's. Examples come from the preference (docs/api.md 22.2, stage 4).
 */
export function combine(own: Source, active: Omit<Source, 'weight'>): Effective {
  const rules = [...own.rules, ...active.rules]
  return {
    preferenceId: active.preferenceId,
    rules,
    floors: { ...active.floors, ...own.floors },
    examples: active.examples,
    warnings: [...own.warnings, ...active.warnings],
    fingerprint: own.fingerprint || active.fingerprint ? `${own.fingerprint}:${active.fingerprint}` : '',
    steps: rules.reduce((sum, { steps }) => sum + steps, 0),
  }
}

/** Maximum number of matching steps per prompt on the event loop: 20 ms in the worst case, usually far below 1 ms. */
const MAX_STEPS = 300_000

/** Pause for rules that timed out, because each attempt may cost a process. Much shorter prompts are still tried. */
const REST_MS = 10_000

/** The end of a rule's pause (monotonic), and the length of the prompt on which it timed out. */
type Rest = { until: number; chars: number }

/**
 * The fingerprint of the compiled rules of a key or a preference, or null if there are none. The compiled rules are
 * large and are kept in `compiled`.
 */
type SourceHead = { fingerprint: string | null }

const compiled = compiledOf<Source>('routing rules')

/** Drops the compiled rules of a key or preference that was changed or deleted. */
const dropSource = (id: KeyId | PreferenceId): void => compiled.drop(id)

/** The source members that are equal for all keys. */
const OF_KEY = { preferenceId: null, name: "the key's routing_rules", examples: [] } as const

/** The stored rules of a key or a preference, with their owner. */
type Owned = Stored & { owner: OwnerScope }

const ownedOf = ({ id, owner, rules, floors, examples }: PreferenceRow): Owned => ({
  preferenceId: id,
  name: `routing preference ${id}`,
  owner,
  rules,
  floors,
  examples,
})

/** The compiled rules of a preference, from the cache if unchanged. */
const readPreference = (row: PreferenceRow): Promise<Source> => compileOnce(row.id, ownedOf(row))

const { rows } = routingPreference

export type EffectiveRouting = ReturnType<typeof createEffective>

type Deps = { store: Store; clock: Clock; bindings: Pick<KeyBindings, 'of'> }

/** The members of a caller that routing needs. */
export type RoutingCaller =
  | Pick<KeyCaller, 'type' | 'keyId' | 'orgId' | 'userId'>
  | (Pick<SessionCaller, 'type' | 'userId'> & { orgId: OrgId | null })

/** Whether a key has its own rules or floors, and the preference it is bound to. */
type KeyHead = { hasOwn: boolean; preference: PreferenceId | null }
/** The default preference of an owner. */
type OwnerHead = { preference: PreferenceId | null }

const MAX_HEADS = 20_000
const NO_KEY: KeyHead = { hasOwn: false, preference: null }

/**
 * The routing that applies to a caller (docs/api.md 13): the rules of the key, then the preference bound to it, or else
 * the default preference of the caller's owner scope. Cached, so it costs no query while nothing changes. Another node
 * sees a change within a second (docs/promises.md I26).
 */
export function createEffective({ store, clock, bindings }: Deps) {
  const options = { max: MAX_HEADS, changes: store.changes }
  const keys = createReadCache<KeyId, KeyHead>({ ...options, tables: ['api_keys'] })
  const owners = createReadCache<OwnerScope, OwnerHead>({ ...options, tables: ['routing_preferences'] })
  const ofKeys = createReadCache<KeyId, SourceHead>({ ...options, tables: ['api_keys'] })
  const preferences = createReadCache<PreferenceId, SourceHead>({ ...options, tables: ['routing_preferences'] })
  const worker = createPatternWorker({ clock })
  const combined = new WeakMap<Source, WeakMap<Source, Effective>>()

  return {
    /** Synchronous when cached. */
    of(caller: RoutingCaller): Effective | Promise<Effective> {
      const found = caller.type === 'key' ? keys.get(caller.keyId, readKeyHead) : NO_KEY
      return found instanceof Promise ? found.then((head) => underHead(head!, caller)) : underHead(found, caller)
    },
    /** Call this after the commit that changed the bindings of a key. */
    forgetKey(id: KeyId): void {
      keys.forget(id)
      ofKeys.forget(id)
      dropSource(id)
    },
    /** Call this after a preference changes. Also drops its owner's default, which may be or have been this one. */
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

  function underHead(head: KeyHead, caller: RoutingCaller): Effective | Promise<Effective> {
    const own =
      head.hasOwn && caller.type === 'key'
        ? sourceBy(ofKeys, caller.keyId, async () => {
            const found = await bindings.of(store.read, caller.keyId)
            const rules = found?.routing_rules ?? []
            return { ...OF_KEY, owner: ownerOf(caller), rules, floors: found?.routing_floors ?? {} }
          })
        : NOTHING
    const active = head.preference ? ofPreference(head.preference) : ofOwner(ownerOf(caller))
    if (!(own instanceof Promise) && !(active instanceof Promise)) return merged(own, active)
    return Promise.all([own, active]).then(([mine, theirs]) => merged(mine, theirs))
  }

  function ofPreference(id: PreferenceId): Source | Promise<Source> {
    return sourceBy(preferences, id, async () => {
      const row = await rows.find(store.read, 'everyone', id)
      return row ? ownedOf(row) : null
    })
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

  async function readOwnerHead(owner: OwnerScope): Promise<OwnerHead> {
    return { preference: (await rows.defaultOf(store.read, owner))?.id ?? null }
  }
}

/** The compiled rules of a key or a preference, loaded by `read`. Synchronous when cached. */
function sourceBy<K extends KeyId | PreferenceId>(
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

/** Compiles stored rules and caches the result while there is memory. */
async function compileOnce(id: KeyId | PreferenceId, stored: Owned): Promise<Source> {
  const known = compiled.get(id)
  if (known?.fingerprint === fingerprintOf(stored)) return known
  const source = await readSource(stored)
  compiled.put(id, source, { owner: stored.owner, weight: source.weight })
  return source
}

/**
 * Matches rules without blocking the event loop: small patterns run there, all others are matched beforehand in a
 * process. Rules read the whole prompt. Rules without a result after 50 ms are skipped, with a warning to the caller
 * (docs/api.md 13).
 */
export function createRuleMatcher({ worker, clock }: { worker: Pick<PatternWorker, 'match'>; clock: Clock }) {
  const resting = new WeakMap<ReadyRule, Rest>()

  /** Guidance whose rules answer quickly. Returns the same object synchronously when all its rules are small enough. */
  return function ready(effective: Effective, prompt: string, trial: Trial): Effective | Promise<Effective> {
    return effective.steps * Math.max(1, prompt.length) <= MAX_STEPS ? effective : tried(effective, prompt, trial)
  }

  async function tried(effective: Effective, text: string, trial: Trial): Promise<Effective> {
    const known = new Map<ReadyRule, boolean>()
    const skipped = new Set<ReadyRule>()
    let budgetMs = BUDGET_MS
    const large = largeOf(effective.rules, text.length)
    for (const rule of large) if (rests(rule, text)) skipped.add(rule)
    for (const group of groupsOf(large.filter((rule) => !skipped.has(rule)))) {
      const patterns = group.map(({ pattern }) => pattern)
      const stops = !group.some(({ steps }) => Number.isFinite(steps))
      const found = budgetMs <= 0 ? null : await worker.match(patterns, text, { ...trial, budgetMs, stops })
      if (found) budgetMs -= found.ms
      const rest = { until: clock.monotonic() + REST_MS, chars: text.length }
      if (found && !found.answers) for (const rule of group) resting.set(rule, rest)
      for (const [index, rule] of group.entries()) {
        const answer = found?.answers?.[index] ?? null
        if (answer === null) skipped.add(rule)
        else known.set(rule, answer)
      }
    }
    return withAnswers(effective, known, skipped)
  }

  function rests(rule: ReadyRule, text: string): boolean {
    const rest = resting.get(rule)
    return rest !== undefined && rest.until > clock.monotonic() && text.length > rest.chars / 2
  }
}

/** The rules that exceed `MAX_STEPS` when the steps are summed from the first rule on. */
function largeOf(rules: readonly ReadyRule[], length: number): ReadyRule[] {
  let left = MAX_STEPS
  return rules.filter(({ steps }) => {
    const cost = steps * length
    if (cost > left) return true
    left -= cost
    return false
  })
}

/** Linear patterns are tried together, each backtracking pattern alone, so that a slow one does not affect others. */
function groupsOf(rules: readonly ReadyRule[]): ReadyRule[][] {
  const linear = rules.filter(({ steps }) => Number.isFinite(steps))
  const others = rules.filter(({ steps }) => !Number.isFinite(steps))
  return [...(linear.length ? [linear] : []), ...others.map((rule) => [rule])]
}

function withAnswers(
  effective: Effective,
  known: ReadonlyMap<ReadyRule, boolean>,
  skipped: ReadonlySet<ReadyRule>,
): Effective {
  const rules = effective.rules
    .filter((rule) => !skipped.has(rule))
    .map((rule) => {
      const answer = known.get(rule)
      return answer === undefined ? rule : { ...rule, matches: () => answer }
    })
  if (!skipped.size) return { ...effective, rules }
  const which = skipped.size === 1 ? '1 routing rule was' : `${skipped.size} routing rules were`
  const warning = `${which} skipped: more than ${BUDGET_MS} ms on a prompt like this. Make the patterns simpler.`
  return { ...effective, rules, warnings: [...effective.warnings, warning] }
}

/** The owner for whom patterns are matched, and the signal that ends the wait. */
export const trialOf = ({ caller, signal }: Pick<Call<Caller>, 'caller' | 'signal'>): Trial => ({
  who: caller.type === 'operator' ? 'operator' : ownerOf(caller),
  signal,
})
