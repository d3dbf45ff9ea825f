import { bind } from '../kernel/bind'
import {
  type Call,
  type Caller,
  type KeyCaller,
  type OperatorCaller,
  type OwnerScope,
  ownerOf,
  type TenantCaller,
} from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { orgRequired } from '../kernel/errors'
import { nextTurn } from '../kernel/loop'
import type { Page } from '../kernel/page'
import { type RangeQuery, readRange } from '../kernel/range'
import type { SigningKey } from '../kernel/signing'
import type { Reader, Store } from '../kernel/store'
import { GENESIS, orgOf } from './chain'
import type { CheckpointBook } from './checkpoint-book'
import type { Checkpoints } from './checkpoints'
import { personalKeyRequired } from './errors'
import { createExportSignatures, exportRows, written } from './export'
import { checkChain, checkIntegrity } from './integrity'
import { listEvents } from './list'
import { actionsBetween, headOf } from './repository'
import type {
  AuditEvent,
  AuditExport,
  AuditFilters,
  AuditHead,
  AuditQuery,
  ChainCheck,
  ChainScope,
  Checkpoint,
  Integrity,
  RecordScope,
} from './schema'
import type { AuditLog } from './service'

type Deps = {
  store: Store
  clock: Clock
  audit: AuditLog
  checkpoints: Checkpoints
  book: CheckpointBook
  /** Signs the exports of operators. */
  key: SigningKey
  /** Throws 403 `forbidden` when the caller may not view this org's audit events (docs/api.md 1.2: `viewAudit`). */
  assertMayView(reader: Reader, caller: TenantCaller, orgId: NonNullable<KeyCaller['orgId']>): Promise<void>
  /** Resolves an owner that an operator names. Throws 404. */
  ownerNamed(reader: Reader, word: string | undefined): Promise<OwnerScope>
  userByEmail(reader: Reader, email: string): Promise<{ id: string } | undefined>
}
/** The chain to read: a tenant's own or their organization's, or the one that an operator names. */
type ChainChoice = { scope?: RecordScope | undefined; owner?: string | undefined }

/** The chain of events that belong to no tenant: engines, server settings, operators' own actions. */
const SERVER = 'server'
const WINDOW = 5_000

export type AuditReading = ReturnType<typeof createAuditReading>

/** Owners list, export and verify their audit chain, operators any chain (docs/api.md 19, docs/operating.md 2.17). */
export function createAuditReading(deps: Deps) {
  const signatures = createExportSignatures(deps)
  return {
    ...bind({ ...deps, signatures }, { list, exportEvents, integrity, checkpoint, head, actions, check }),
    /** The signature of an operator's export, by request id. Throws 404. */
    signatureOf: signatures.of,
    /** When a chain was last signed, or null. A chain that lost a signed event is not signed again. */
    signedAt: async (scope: ChainScope): Promise<string | null> => (await deps.book.newest(scope))?.signed_at ?? null,
  }
}

/** One page, newest first. Throws 400 for invalid dates and cursors. */
async function list(
  deps: Deps,
  call: Call<Caller>,
  { scope, owner, ...query }: AuditQuery & ChainChoice,
): Promise<Page<AuditEvent>> {
  const chain = await chainOf(deps, call, { scope, owner })
  return listEvents(deps.store.read, chain, await withActorId(deps, call, query))
}

/**
 * Streams the export, newest event first, and signs an operator's export. Records the `audit.exported` event first, so
 * the file contains it. Throws 400 for invalid dates before recording anything.
 */
async function* exportEvents(
  deps: Deps & { signatures: ReturnType<typeof createExportSignatures> },
  call: Call<Caller>,
  { scope, owner, ...request }: AuditExport & ChainChoice,
): AsyncGenerator<string> {
  const chain = await chainOf(deps, call, { scope, owner })
  const pieces = exported(deps, call, chain, await withActorId(deps, call, request))
  yield* call.caller.type === 'operator' ? deps.signatures.around(call.requestId, chain, pieces) : pieces
}

async function* exported(
  { store, audit }: Deps,
  call: Call<Caller>,
  scope: ChainScope,
  { format, ...filters }: AuditExport,
): AsyncGenerator<string> {
  readRange(filters)
  await store.write((tx) => audit.record(tx, call, exportedEntry(scope, filters)))
  yield* written(exportRows(store.read, { scope, filters, signal: call.signal }), format)
}

/** Records the dates and the names of the other filters, but not their values. */
const exportedEntry = (scope: ChainScope, { from, to, ...others }: AuditFilters) => ({
  action: 'audit.exported',
  entityType: orgOf(scope) ? ('organization' as const) : ('user' as const),
  entityId: scope === SERVER ? null : scope.slice(scope.indexOf(':') + 1),
  scope,
  input: { metadata: { from: from ?? null, to: to ?? null, filters: Object.keys(others).sort() } },
  output: { status: 200 },
})

/**
 * For operators: replaces an e-mail address with the user's id, as in events. Without a match, keeps the text, which
 * may be an operator's name.
 */
async function withActorId<Q extends { actor?: string }>(deps: Deps, { caller }: Call<Caller>, query: Q): Promise<Q> {
  if (caller.type !== 'operator' || !query.actor?.includes('@')) return query
  const user = await deps.userByEmail(deps.store.read, query.actor)
  return user ? { ...query, actor: user.id } : query
}

async function integrity(
  deps: Deps,
  call: Call,
  { scope: wanted, ...dates }: RangeQuery & ChainChoice,
): Promise<Integrity> {
  const scope = await chainOf(deps, call, { scope: wanted })
  const checkpoint = await deps.book.newest(scope)
  return checkIntegrity(deps.store.read, deps.clock, { scope, dates, checkpoint, signal: call.signal })
}

/** The newest signed checkpoint of the caller's chain, for the caller to store. */
async function checkpoint(deps: Deps, call: Call, choice: ChainChoice = {}): Promise<Checkpoint> {
  // A copy, because the response layer adds members to the answer.
  return { ...(await deps.checkpoints.newest(await chainOf(deps, call, choice))) }
}

/** The head of a chain, with its newest checkpoint. */
async function head(deps: Deps, call: Call<OperatorCaller>, owner?: string): Promise<AuditHead> {
  const scope = await chainOf(deps, call, { owner })
  const [end] = await headOf(deps.store.read, { scope })
  const checkpoint = { ...(await deps.checkpoints.newest(scope)) }
  return { object: 'audit_head', scope, seq: end?.seq ?? 0, hash: end?.hash ?? GENESIS, checkpoint }
}

/** The number of events of each action in a chain, most frequent first. */
async function actions(
  deps: Deps,
  call: Call<OperatorCaller>,
  owner?: string,
): Promise<{ action: string; count: number }[]> {
  const { read } = deps.store
  const scope = await chainOf(deps, call, { owner })
  const [end] = await headOf(read, { scope })
  const counts = new Map<string, number>()
  for (let above = 0; above < (end?.seq ?? 0) && !call.signal.aborted; above += WINDOW) {
    for (const { action, count } of await actionsBetween(read, { scope, above, upTo: above + WINDOW })) {
      counts.set(action, (counts.get(action) ?? 0) + Number(count))
    }
    await nextTurn()
  }
  return [...counts].map(([action, count]) => ({ action, count })).sort((a, b) => b.count - a.count)
}

/** Recomputes one chain from a `seq` on, and compares it with its checkpoint and a head stored elsewhere. */
async function check(
  deps: Deps,
  call: Call<OperatorCaller>,
  { owner, ...request }: { owner?: string; from_seq?: number; head?: string },
): Promise<ChainCheck> {
  const scope = await chainOf(deps, call, { owner })
  const checkpoint = await deps.book.newest(scope)
  return checkChain(deps.store.read, deps.clock, scope, { ...request, checkpoint, signal: call.signal })
}

/**
 * The chain to read: the org's for an org key, otherwise the caller's own, or the active org's if requested. Throws 403
 * `forbidden` without `viewAudit`. For an operator, the named chain. Throws 404 for an unknown owner.
 */
async function chainOf(
  deps: Deps,
  { caller }: Call<Caller>,
  { scope: wanted, owner }: ChainChoice,
): Promise<ChainScope> {
  if (caller.type === 'operator') return owner === SERVER ? SERVER : deps.ownerNamed(deps.store.read, owner)
  if (wanted === 'user' && caller.orgId !== null) throw personalKeyRequired()
  const orgId = wanted === 'org' ? caller.activeOrgId : caller.orgId
  if (wanted === 'org' && orgId === null) throw orgRequired()
  if (orgId === null) return ownerOf(caller)
  await deps.assertMayView(deps.store.read, caller, orgId)
  return `org:${orgId}`
}
