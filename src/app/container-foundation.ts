import { join } from 'node:path'
import { createOrgs, createSettings, ownerToRead } from '../accounts'
import { createAuditLog, createAuditReading, createCheckpointBook, createCheckpoints } from '../audit'
import {
  createLive,
  createMail,
  createNodes,
  createTraces,
  createTraffic,
  eitherWire,
  type RequestLine,
} from '../cluster'
import { createEngineRegistry, type Observe } from '../engines'
import { createEventBus, createFanOut } from '../events'
import { createFilePlace, createFiles } from '../files'
import { createIdempotency } from '../idempotency'
import { createJobs, createTakeovers } from '../jobs'
import type { Clock } from '../kernel/clock'
import { errorFields, type Log } from '../kernel/log'
import { microToCents } from '../kernel/money'
import { createOutbound } from '../kernel/outbound'
import type { SigningKey } from '../kernel/signing'
import type { Reader, Store } from '../kernel/store'
import type { Trace } from '../kernel/trace'
import { createUsageLog, type UsageEntry } from '../usage'
import type { Config } from './config'
import { takesJobs } from './config'
import type { Redis } from './redis'
import type { Telemetry } from './telemetry'
import { RELEASE } from './version'

/** What the modules are built from: configuration, infrastructure and keys. */
export type Deps = {
  config: Config
  store: Store
  clock: Clock
  /** Called with the time by which this machine's clock is ahead of the database's, in milliseconds. */
  onClock(aheadMs: number): void
  log: Log
  /** Signs the checkpoints of the audit record. */
  auditKey: SigningKey
  /** Encrypts stored secrets that must be read again. */
  masterKey: Uint8Array
  /** The origin under which browsers reach this server: its public URL, or the address it listens on. */
  origin(): string
  /** Random id of this process, new at each start. */
  node: string
  /** Id of the data folder. */
  home: string
  /** False inside a command, which does no work for other processes. */
  serving: boolean
  /** Null when no Redis is configured. */
  redis: Redis | null
  /** Counts engine calls by engine and outcome. */
  observeEngine: Observe
  /** Counts each charged call by what it consumed. */
  observeCall(entry: UsageEntry): void
  /** Exports traces and metrics. Null unless a collector is set. */
  telemetry: Telemetry | null
  /** Aborts when the server is about to stop. */
  leaving: AbortSignal
  /** Aborts when the server stops and open streams must end. */
  stopping: AbortSignal
}

/** Splits a comma-separated setting into its entries. */
export const words = (list: string): string[] =>
  list
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)

export type Foundation = ReturnType<typeof buildFoundation>

/** Builds what every other module uses: outbound calls, audit record, settings, usage, events, organizations. */
export function buildFoundation(deps: Deps) {
  const { config, store, clock, log, masterKey, node, redis, telemetry } = deps
  const onError = (name: string, error: unknown) => log.error({ loop: name, ...errorFields(error) }, 'loop failed')
  const outbound = createOutbound({
    allow: words(config.egressAllow),
    ownHosts: config.publicUrl ? [new URL(config.publicUrl).host] : [],
    httpsOnly: config.production,
  })
  const nodes = createNodes({
    ...{ store, node, home: deps.home, onClock: deps.onClock, version: RELEASE },
    roles: deps.serving ? config.roles : '',
    ownFiles: !config.filesDir && !config.filesS3Bucket,
  })
  const jobs = createJobs({
    store,
    clock,
    node,
    leaseMs: config.jobLeaseSeconds * 1_000,
    onError,
    takes: nodes.taking(takesJobs(config)),
  })
  const wire = store.wire && redis ? eitherWire(redis.wire, store.wire) : store.wire
  const live = createLive({ wire, surest: store.wire, node, clock, onError })
  const traces = createTraces({ clock, live, node })
  const onRequest = telemetry && ((line: RequestLine) => telemetry.request(line, traces.own(line.id)))
  const traffic = createTraffic({ clock, live, node, costOf: traces.costOf, ...(onRequest && { onRequest }) })
  const takeovers = createTakeovers({ store, clock, jobs })
  const audit = createAuditLog({ clock })
  const auditFolder = join(config.dataDir, 'audit')
  const book = createCheckpointBook({ folder: auditFolder })
  const checkpoints = createCheckpoints({
    store,
    clock,
    book,
    key: deps.auditKey,
    onBroken: ({ scope, seq, signed_at }) => log.error({ scope, seq, signed_at }, 'the record is not what was signed'),
  })
  const mail = createMail({ settings: config })
  const engineRegistry = createEngineRegistry({ store, settings: config, masterKey, log })
  const settings = createSettings({ store, audit, clock, traceBodies: config.traceBodies })
  const usage = createUsageLog({ clock, witness: witnessOf(traces.step, deps.observeCall) })
  const filePlace = createFilePlace(config)
  const files = createFiles({
    store,
    clock,
    audit,
    ...filePlace,
    masterKey,
    origin: deps.origin,
    rules: {
      ownerMb: config.filesOwnerMb,
      ownerCount: config.filesOwnerCount,
      retentionDays: config.filesRetentionDays,
    },
    onError,
  })
  const idempotency = createIdempotency({ store, clock, masterKey })
  const events = createEventBus({ clock, onError })
  const fanOut = createFanOut({ audit })
  events.inTransaction('*', fanOut.ofServer, fanOut.reachesNobody)
  const orgs = createOrgs({ ...deps, store, audit, events, clock, jobs, mail, settings: config })
  const ownerNamed = async (reader: Reader, word: string | undefined) => (await ownerToRead(reader, word)).scope
  const auditReading = createAuditReading({
    store,
    clock,
    audit,
    checkpoints,
    book,
    key: deps.auditKey,
    ownerNamed,
    userByEmail: orgs.userByEmail,
    assertMayView: (reader, caller, orgId) => orgs.assertPermission(reader, caller, 'viewAudit', orgId),
  })
  return {
    ...deps,
    onError,
    engineRegistry,
    outbound,
    jobs,
    live,
    traffic,
    traces,
    takeovers,
    nodes,
    audit,
    checkpoints,
    mail,
    settings,
    usage,
    filePlace,
    files,
    ownerNamed,
    idempotency,
    events,
    fanOut,
    orgs,
    auditReading,
    auditFolder,
  }
}

/** Reports each charged call to the metrics, and to the trace of its request. */
const witnessOf = (trace: Trace, observe: Deps['observeCall']) => (entry: UsageEntry) => {
  observe(entry)
  trace(entry.requestId, 'settled', entry.endpoint, entry.latencyMs, {
    owner: entry.owner,
    status: entry.status,
    mode: entry.resolvedMode,
    engine: entry.model,
    cached: entry.cached,
    fallback: entry.fallbackUsed,
    prompt_tokens: entry.promptTokens,
    completion_tokens: entry.completionTokens,
    first_token_ms: entry.ttftMs,
    cost_cents: microToCents(entry.costMicro),
  })
}
