import { findOwner, type KeyService, type OrgService, ownerToRead } from '../accounts'
import type { OperatorOrg } from '../accounts/orgs/schema'
import type { AuditReading } from '../audit'
import { listLedger } from '../billing'
import type { Traces } from '../cluster'
import type { CacheChoice, CacheReading } from '../completions'
import { type Call, type OperatorCaller, type OwnerScope, ownerOf } from '../kernel/caller'
import { iso } from '../kernel/clock'
import { invalidInput } from '../kernel/errors'
import { microToCents } from '../kernel/money'
import type { Static } from '../kernel/schema'
import type { Reader } from '../kernel/store'
import type { SkillService } from '../skills'
import type { OperatorSkillQuery } from '../skills/schema'
import type { UsageReading } from '../usage'
import { createOperatorAccess } from './access'
import type { createBackup } from './backup'
import { createBackups } from './backups'
import { createCreditVerbs } from './credits'
import { createDoctor } from './doctor'
import { createEngineVerbs } from './engines'
import { operatorErrors } from './errors'
import { createLimitVerbs } from './limits'
import { drainNode, getNode, listNodes, type NodeDeps } from './nodes'
import type {
  CacheFinding,
  CachePurge,
  CachePurged,
  CacheQuestion,
  CacheStats,
  OperatorRequestQuery,
  OperatorSeriesQuery,
  OperatorUsage,
  OperatorUsageExportQuery,
  OperatorUsageQuery,
  RequestTrace,
  TraceQuery,
  Verification,
} from './schema'
import { createStatus } from './status'
import { createStream } from './stream'

const MAX_LINES = 4_000

const MAX_ROWS = 100

const DAY_MS = 86_400_000

/** The time range around the steps of a request that is searched. Its rows are written while it runs, or soon after. */
const AROUND_MS = 3_600_000

/** Filters of the skill list. `owner` as operators name it (docs/operating.md 2.1). */
type OperatorSkillWords = Static<typeof OperatorSkillQuery>

type OperatorCall = Call<OperatorCaller>

/** A check of a module's own rows. Returns a sentence for each violation, none when consistent. */
type Invariant = { check: string; violations(reader: Reader): Promise<string[]> }

type Deps = Parameters<typeof createCreditVerbs>[0] &
  Parameters<typeof createEngineVerbs>[0] &
  Parameters<typeof createLimitVerbs>[0] &
  Parameters<typeof createOperatorAccess>[0] &
  Parameters<typeof createBackups>[0] &
  Parameters<typeof createStatus>[0] &
  NodeDeps &
  Omit<Parameters<typeof createStream>[0], 'status' | 'isStill'> & {
    orgs: OrgService
    keys: KeyService
    traces: Traces
    auditReading: AuditReading
    usageReading: UsageReading
    answers: CacheReading
    skills: Pick<SkillService, 'operator' | 'store' | 'installing'>
    invariants: readonly Invariant[]
    backup: ReturnType<typeof createBackup>
    /** Webhooks that were disabled because their receivers failed. */
    failingWebhooks(reader: Reader): Promise<string[]>
    /** The settings of this server. */
    explained(): { name: string; value: string; origin: string; env: string; default: string; about: string }[]
  }

export type OperatorService = ReturnType<typeof createOperators>

/** All operations of the operator API. Each uses the service of the module that owns the rule. */
export function createOperators(deps: Deps) {
  const status = createStatus(deps)
  const access = createOperatorAccess(deps)
  const engines = createEngineVerbs(deps)
  const backups = createBackups(deps)
  return {
    limits: createLimitVerbs(deps),
    access,
    credits: createCreditVerbs(deps),
    audit: deps.auditReading,
    engines,
    doctor: createDoctor({ ...deps, status, engines, backups }),
    orgDetail: (call: OperatorCall, ref: string) => orgDetail(deps, call, ref),
    cache: createCacheVerbs(deps),
    usage: createUsageVerbs(deps),
    status,
    explained: deps.explained,
    nodes: {
      list: () => listNodes(deps),
      get: (ref: string) => getNode(deps, ref),
      drain: (call: OperatorCall, ref: string) => drainNode(deps, call, ref, true),
      resume: (call: OperatorCall, ref: string) => drainNode(deps, call, ref, false),
    },
    stream: createStream({ ...deps, status, isStill: access.isStill }),
    verify: createVerify(deps),
    /** Submissions of skills (docs/operating.md 2.11). The skills module decides them. */
    submissions: deps.skills.operator,
    skills: createSkillVerbs(deps),
    backup: deps.backup,
    backups,
    trace: createTrace(deps),
  }
}

/**
 * Runs all checks of the stored data (docs/promises.md I6, I8, I20) one after another, so that a live server keeps
 * serving requests.
 */
function createVerify({ store, clock, invariants }: Deps) {
  const all: readonly Invariant[] = [{ check: 'integrity', violations: () => store.integrity() }, ...invariants]

  return async function verify(_call: OperatorCall): Promise<Verification> {
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

/** An org with members, keys and balance (docs/operating.md 2.9). */
async function orgDetail({ store, orgs, keys, billing }: Deps, call: OperatorCall, ref: string) {
  const org = (await orgs.get(call, ref)) as OperatorOrg
  const wallet = await billing.balance(store.read, `org:${org.id}`)
  return {
    ...org,
    key_count: await keys.count(call, org.id),
    balance_cents: microToCents(wallet.balance),
    held_cents: microToCents(wallet.held),
  }
}

/** Usage of any owner, for operators (docs/operating.md 2.16). */
function createUsageVerbs({ store, keys, usageReading }: Deps) {
  return {
    /** The report the owner would get. */
    async show(call: OperatorCall, input: OperatorUsageQuery): Promise<OperatorUsage> {
      const { scope, name, query } = await ownerAnd(call, input)
      return { id: scope, object: 'usage', owner: name, ...(await usageReading.reportOf(scope, query)) }
    },
    /** One figure per bucket of time, as the owner would get them. */
    async series(call: OperatorCall, input: OperatorSeriesQuery) {
      const { scope, query } = await ownerAnd(call, input)
      return usageReading.seriesOf(call, scope, query)
    },
    /** The calls of an owner, newest first, as the owner would see them. */
    async requests(call: OperatorCall, input: OperatorRequestQuery) {
      const { scope, query } = await ownerAnd(call, input)
      return usageReading.requestsOf(call, scope, query)
    },
    /** The file the owner would get; the export is recorded in the owner's audit chain. */
    async *exportCalls(call: OperatorCall, input: OperatorUsageExportQuery) {
      const { scope, query } = await ownerAnd(call, input)
      yield* usageReading.exportOf(call, scope, query)
    },
  }

  /** The owner, and the other filters. Without `owner`, the owner of the named key, which may be given by name. */
  async function ownerAnd<Q extends OperatorUsageQuery>(call: OperatorCall, { owner, ...query }: Q) {
    const key = owner === undefined && query.key_id !== undefined ? await keys.callerOf(call, query.key_id) : null
    const found = await ownerToRead(store.read, key ? ownerOf(key) : owner)
    return { ...found, query: key ? { ...query, key_id: key.keyId } : query }
  }
}

/** Operator verbs for skills, and for owners of keys (docs/operating.md 2.11). */
function createSkillVerbs({ store, keys, skills }: Deps) {
  const { get, versions, reviews, disable, enable, put } = skills.store
  return { list, get, versions, reviews, disable, enable, put, install, uninstall }

  /** Skills of all owners, of one owner, or of the owner of a key. Throws 404 for an unknown owner or key. */
  async function list(call: OperatorCall, { owner, key, ...query }: OperatorSkillWords) {
    if (key !== undefined) {
      return skills.store.list(call, { ...query, owner: ownerOf(await keys.callerOf(call, key)) })
    }
    if (owner === undefined) return skills.store.list(call, query)
    const scope = owner === 'server' ? ('server' as const) : (await findOwner(store.read, owner)).scope
    return skills.store.list(call, { ...query, owner: scope })
  }

  /** Installs a skill on behalf of the given key. Throws 404 for the key, and for a skill its owner cannot see. */
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

/** The answer cache of this process (docs/operating.md 2.18). A purge also empties the cache that nodes share. */
function createCacheVerbs({ store, audit, keys, answers }: Deps) {
  return { stats, find, purge }

  function stats(_call: OperatorCall): CacheStats {
    return { object: 'cache', ...answers.stats() }
  }

  /** Whether this prompt would be answered from the cache. Throws 404 for an unknown owner or key. */
  async function find(call: OperatorCall, { prompt, mode, ...selection }: CacheQuestion): Promise<CacheFinding> {
    const found = answers.find(prompt, { mode, ...(await ownerAndKey(call, selection)) })
    return { object: 'cache_finding', verdict: found.length ? 'hit' : 'miss', why: why(found.length), answers: found }
  }

  function why(found: number): string {
    if (!answers.stats().enabled) return 'The cache is disabled: SVC_CACHE_ENABLED is 0.'
    if (found > 0)
      return 'Served to its owner only if the rest of the request is the same too: skills, tools, persona, settings, preferences and policies.'
    return 'No answer to exactly this prompt is cached here: it was never sent, its entry expired, or its answer was not cacheable.'
  }

  /** Throws 400 for a scope without a name, 404 for an unknown owner or key. */
  async function purge(call: OperatorCall, { scope, name }: CachePurge): Promise<CachePurged> {
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

  async function choiceOf(call: OperatorCall, scope: CachePurge['scope'], name?: string): Promise<CacheChoice> {
    if (scope === 'org') return ownerAndKey(call, { owner: name })
    if (scope === 'key') return ownerAndKey(call, { key: name })
    return scope === 'mode' ? { mode: name } : {}
  }

  async function ownerAndKey(
    call: OperatorCall,
    { owner, key }: { owner?: string | undefined; key?: string | undefined },
  ): Promise<CacheChoice> {
    return {
      owner: owner === undefined ? undefined : (await findOwner(store.read, owner)).scope,
      keyId: key === undefined ? undefined : (await keys.get(call, key)).id,
    }
  }
}

/**
 * Everything about one request: its log line, its timed steps, its cost and its audit events. The process that answered
 * keeps the steps in memory. Ledger and audit log are in the store (docs/operating.md 2.8).
 */
function createTrace({ store, clock, audit, traffic, traces }: Deps) {
  return async function trace(_call: OperatorCall, ref: string, query: TraceQuery): Promise<RequestTrace> {
    const steps = await traces.find(ref)
    const line = traffic.newest(MAX_LINES).find(({ id }) => id === ref) ?? null
    const traced = steps.map(({ facts }) => facts?.owner).find((one) => typeof one === 'string') as
      | OwnerScope
      | undefined
    const scope = query.owner === undefined ? (traced ?? null) : (await findOwner(store.read, query.owner)).scope
    const about = steps[0]?.at ?? line?.at
    // Ledger rows whose reference ends with the request id.
    const rows = scope === null ? [] : (await listLedger(store.read, scope, MAX_ROWS, { ref })).items.toReversed()
    const events = scope === null ? [] : await recordOf(scope, ref, query, about)
    if (!steps.length && !line && !rows.length && !events.length) throw operatorErrors.traceNotFound(ref)
    return {
      object: 'trace',
      id: ref,
      owner: scope,
      request: line && { ...line },
      steps: steps.map(({ facts = {}, ...step }) => ({ ...step, facts })),
      ledger: rows.map(({ id: _, ref: hold, amount, balance, at, ...row }) => ({
        ...row,
        ref: hold,
        amount_cents: microToCents(amount),
        balance_cents: microToCents(balance),
        at: iso(at),
      })),
      audit: events,
    }
  }

  async function recordOf(scope: OwnerScope, ref: string, { since }: TraceQuery, about: string | undefined) {
    const at = about === undefined ? clock.now() : Date.parse(about)
    const from = since ?? iso(at - (about === undefined ? DAY_MS : AROUND_MS))
    const page = await audit.list(store.read, scope, { request_id: ref, from, limit: MAX_ROWS })
    return page.items.toReversed().map(({ id, action, entityType, entityId, timestamp, outputSummary }) => ({
      id,
      action,
      entity_type: entityType,
      entity_id: entityId,
      at: timestamp,
      output: outputSummary,
    }))
  }
}
