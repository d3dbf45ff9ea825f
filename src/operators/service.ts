import { findOwner, type KeyService, type OrgService } from '../accounts'
import type { OperatorOrg } from '../accounts/orgs/schema'
import type { AuditLog, AuditReading } from '../audit'
import type { Billing, Difference } from '../billing'
import type { CacheChoice, CacheReading } from '../completions'
import { type Call, type OperatorCaller, ownerOf } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { invalidInput } from '../kernel/errors'
import { microToCents } from '../kernel/money'
import type { Static } from '../kernel/schema'
import type { Reader, Store } from '../kernel/store'
import type { SkillService } from '../skills'
import type { OperatorSkillQuery } from '../skills/schema'
import type { UsageReading } from '../usage'
import { createOperatorAccess } from './access'
import type { createBackup } from './backup'
import { createBackups } from './backups'
import { createBookVerbs } from './books'
import { createCreditVerbs } from './credits'
import { createEngineVerbs } from './engines'
import { createLimitVerbs } from './limits'
import type {
  CacheFinding,
  CachePurge,
  CachePurged,
  CacheQuestion,
  CacheStats,
  OperatorUsage,
  OperatorUsageExportQuery,
  OperatorUsageQuery,
  Reconciliation,
  Verification,
} from './schema'
import { createStatus } from './status'
import { createStream } from './stream'
import { createTrace } from './trace'

type CacheDeps = { store: Store; audit: AuditLog; keys: KeyService; answers: CacheReading }

type ReconcileDeps = { audit: AuditLog; billing: Pick<Billing, 'reconciliation'> }

const answerOf = (differences: Reconciliation['differences']): Reconciliation => ({
  object: 'credit_reconciliation',
  ok: differences.every(({ applied }) => applied),
  differences,
})

const cents = (micro: number | null): number | null => (micro === null ? null : microToCents(micro))

const present = ({ owner, balance, held, entries, open }: Difference, applied: boolean) => ({
  id: owner,
  balance_cents: cents(balance),
  ledger_cents: microToCents(entries),
  held_cents: cents(held),
  open_cents: microToCents(open),
  applied,
})

/** Filters of the skill list; `owner` as operators name one (dx 2.1). */
type OperatorSkillWords = Static<typeof OperatorSkillQuery>

type SkillsDeps = {
  store: Store
  keys: KeyService
  skills: Pick<SkillService, 'operator' | 'store' | 'installing'>
}

type OperatorCall = Call<OperatorCaller>

type UsageDeps = { store: Store; keys: KeyService; usageReading: UsageReading }

/** A check of a room's own rows: returns a sentence for each violation; empty when sound. */
type Invariant = { check: string; violations(reader: Reader): Promise<string[]> }

type VerifyDeps = { store: Store; clock: Clock; invariants: readonly Invariant[] }

type Deps = Parameters<typeof createCreditVerbs>[0] &
  Parameters<typeof createBookVerbs>[0] &
  Parameters<typeof createReconcileVerbs>[0] & { auditReading: AuditReading } & Parameters<
    typeof createEngineVerbs
  >[0] &
  Parameters<typeof createLimitVerbs>[0] &
  Parameters<typeof createOperatorAccess>[0] &
  Parameters<typeof createBackups>[0] &
  Parameters<typeof createTrace>[0] &
  Parameters<typeof createStatus>[0] &
  OrgDetailDeps &
  Parameters<typeof createCacheVerbs>[0] &
  Parameters<typeof createUsageVerbs>[0] &
  Parameters<typeof createSkillVerbs>[0] &
  Parameters<typeof createVerify>[0] &
  Omit<Parameters<typeof createStream>[0], 'status' | 'isStill'> & {
    backup: ReturnType<typeof createBackup>
  }

export type OperatorService = ReturnType<typeof createOperators>

/** All operations of the operator API; each uses the service of the room that owns the rule. */
export function createOperators(deps: Deps) {
  const status = createStatus(deps)
  const access = createOperatorAccess(deps)
  return {
    limits: createLimitVerbs(deps),
    access,
    credits: createCreditVerbs(deps),
    books: createBookVerbs(deps),
    reconciliation: createReconcileVerbs(deps),
    audit: deps.auditReading,
    engines: createEngineVerbs(deps),
    orgDetail: (call: OperatorCall, ref: string) => orgDetail(deps, call, ref),
    cache: createCacheVerbs(deps),
    usage: createUsageVerbs(deps),
    status,
    stream: createStream({ ...deps, status, isStill: access.isStill }),
    verify: createVerify(deps),
    /** Submissions of skills (dx 2.11), decided in the skills room. */
    submissions: deps.skills.operator,
    skills: createSkillVerbs(deps),
    backup: deps.backup,
    backups: createBackups(deps),
    trace: createTrace(deps),
  }
}

/**
 * Runs all checks of the stored data (I6, I8, I20), one after another, so that a live server keeps
 * serving requests.
 */
function createVerify({ store, clock, invariants }: VerifyDeps) {
  const all: readonly Invariant[] = [{ check: 'integrity', violations: () => store.integrity() }, ...invariants]

  return async function verify(_call: Call<OperatorCaller>): Promise<Verification> {
    const checks: Verification['checks'] = []
    for (const { check, violations } of all) {
      const began = clock.monotonic()
      const found = await violations(store.readLong)
      checks.push({ check, violations: found, ms: Math.round(clock.monotonic() - began) })
    }
    const ok = checks.every(({ violations }) => violations.length === 0)
    return { object: 'verification', ok, checked_at: iso(clock.now()), checks }
  }
}

type OrgDetailDeps = { store: Store; orgs: OrgService; keys: KeyService; billing: Pick<Billing, 'balance'> }

/** An org with members, keys and balance (dx 2.9). */
async function orgDetail({ store, orgs, keys, billing }: OrgDetailDeps, call: OperatorCall, ref: string) {
  const org = (await orgs.get(call, ref)) as OperatorOrg
  const wallet = await billing.balance(store.read, `org:${org.id}`)
  return {
    ...org,
    key_count: await keys.count(call, org.id),
    balance_cents: microToCents(wallet.balance),
    held_cents: microToCents(wallet.held),
  }
}

/** Usage of any owner, for operators (dx 2.16). */
function createUsageVerbs({ store, keys, usageReading }: UsageDeps) {
  return { show, exportCalls }

  /** The report the owner would get. */
  async function show(call: Call<OperatorCaller>, input: OperatorUsageQuery): Promise<OperatorUsage> {
    const { owner, ...query } = await withKeyOwner(call, input)
    const { scope, name } = await findOwner(store.read, owner)
    return { id: scope, object: 'usage', owner: name, ...(await usageReading.reportOf(scope, query)) }
  }

  /** The file the owner would get; the export is recorded in the owner's audit chain. */
  async function* exportCalls(call: Call<OperatorCaller>, input: OperatorUsageExportQuery) {
    const { owner, ...query } = await withKeyOwner(call, input)
    const { scope } = await findOwner(store.read, owner)
    yield* usageReading.exportOf(call, scope, query)
  }

  /** Without `owner`, the owner of the named key is meant; a key may be given by name. */
  async function withKeyOwner<Q extends OperatorUsageQuery>(call: Call<OperatorCaller>, query: Q): Promise<Q> {
    if (query.owner !== undefined || query.key_id === undefined) return query
    const caller = await keys.callerOf(call, query.key_id)
    return { ...query, owner: ownerOf(caller), key_id: caller.keyId }
  }
}

/** What operators do with skills, and for owners of keys (dx 2.11). */
function createSkillVerbs({ store, keys, skills }: SkillsDeps) {
  const { get, versions, reviews, disable, enable, put } = skills.store
  return { list, get, versions, reviews, disable, enable, put, install, uninstall }

  /** Skills of everyone, of one owner, or of the owner of a key. Throws 404 for an unknown owner or key. */
  async function list(call: OperatorCall, { owner, key, ...query }: OperatorSkillWords) {
    if (key !== undefined) {
      return skills.store.list(call, { ...query, owner: ownerOf(await keys.callerOf(call, key)) })
    }
    if (owner === undefined) return skills.store.list(call, query)
    const scope = owner === 'server' ? ('server' as const) : (await findOwner(store.read, owner)).scope
    return skills.store.list(call, { ...query, owner: scope })
  }

  /** Installs as the given key would. Throws 404 for the key, and for a skill its owner cannot see. */
  async function install(call: OperatorCall, slug: string, key: string): Promise<{ installed: true }> {
    await skills.installing.install(await callAsKey(call, key), { slug }, call)
    return { installed: true }
  }

  /** Throws 404 for the key, and for a skill its owner has not installed. */
  async function uninstall(call: OperatorCall, slug: string, key: string): Promise<{ uninstalled: true }> {
    return skills.installing.uninstall(await callAsKey(call, key), { slug }, call)
  }

  async function callAsKey(call: OperatorCall, key: string): Promise<Call> {
    const { requestId, route, signal } = call
    return { caller: await keys.callerOf(call, key), requestId, route, signal }
  }
}

/** Recomputes balances from the ledger (dx 2.16). */
function createReconcileVerbs({ audit, billing: { reconciliation } }: ReconcileDeps) {
  return { compare, apply }

  async function compare(_call: Call<OperatorCaller>): Promise<Reconciliation> {
    const differences = await reconciliation.differences()
    return answerOf(differences.map((difference) => present(difference, false)))
  }

  /** Corrects every wallet that can be corrected, each in its own transaction and recorded in its owner's chain. */
  async function apply(call: Call<OperatorCaller>): Promise<Reconciliation> {
    const shown: Reconciliation['differences'] = []
    for (const found of await reconciliation.differences()) {
      const applied = await reconciliation.apply(found.owner, (tx, { owner, balance, entries, held, open }) =>
        audit.record(tx, call, {
          action: 'credits.reconciled',
          entityType: 'billing',
          entityId: null,
          scope: owner,
          input: {
            metadata: {
              balance_cents: cents(balance),
              ledger_cents: cents(entries),
              held_cents: cents(held),
              open_cents: cents(open),
            },
          },
        }),
      )
      shown.push(present(applied ?? found, applied !== null))
    }
    return answerOf(shown)
  }
}

/** This server's answer cache (dx 2.18). Only this process's: each node has its own. */
function createCacheVerbs({ store, audit, keys, answers }: CacheDeps) {
  return { stats, find, purge }

  function stats(_call: Call<OperatorCaller>): CacheStats {
    return { object: 'cache', ...answers.stats() }
  }

  /** Whether this prompt would be answered from the cache. Throws 404 for an unknown owner or key. */
  async function find(
    call: Call<OperatorCaller>,
    { prompt, mode, ...selection }: CacheQuestion,
  ): Promise<CacheFinding> {
    const found = answers.find(prompt, { mode, ...(await ownerAndKey(call, selection)) })
    return { object: 'cache_finding', verdict: found.length ? 'hit' : 'miss', why: why(found.length), answers: found }
  }

  function why(found: number): string {
    if (!answers.stats().enabled) return 'The cache is disabled: SVC_CACHE_ENABLED is 0.'
    if (found > 0)
      return 'Served to its owner only if the rest of the request is the same too: skills, tools, persona, settings, preferences and policies.'
    return 'No answer to exactly this prompt is cached here: it was never sent, its entry expired, or its answer was not cacheable.'
  }

  /** Throws 400 for a scope without its name, 404 for an unknown owner or key. */
  async function purge(call: Call<OperatorCaller>, { scope, name }: CachePurge): Promise<CachePurged> {
    if (scope !== 'all' && name === undefined)
      throw invalidInput('name', `"name" is missing. Send the name of the ${scope} to clear.`)
    const choice = await choiceOf(call, scope, name)
    const purged = answers.purge(choice)
    await store.write((tx) =>
      audit.record(tx, call, {
        action: 'cache.purged',
        entityType: 'completion',
        entityId: null,
        scope: choice.owner ?? 'server',
        input: { metadata: { scope, ...(name === undefined ? {} : { name }), purged } },
      }),
    )
    return { object: 'cache_purge', purged }
  }

  async function choiceOf(call: Call<OperatorCaller>, scope: CachePurge['scope'], name?: string): Promise<CacheChoice> {
    if (scope === 'org') return ownerAndKey(call, { owner: name })
    if (scope === 'key') return ownerAndKey(call, { key: name })
    return scope === 'mode' ? { mode: name } : {}
  }

  async function ownerAndKey(
    call: Call<OperatorCaller>,
    { owner, key }: { owner?: string | undefined; key?: string | undefined },
  ): Promise<CacheChoice> {
    return {
      owner: owner === undefined ? undefined : (await findOwner(store.read, owner)).scope,
      keyId: key === undefined ? undefined : (await keys.get(call, key)).id,
    }
  }
}
