import { eq, sql } from 'drizzle-orm'
import type { KeyService, OrgService, TieredKey } from '../accounts'
import type { AuditLog } from '../audit'
import { defineEvent, type EventBus } from '../events'
import { storeAnswer } from '../idempotency'
import type { Call, Caller, OperatorCaller, OwnerScope, TenantCaller, Tier } from '../kernel/caller'
import { type Clock, iso, isoOrNull } from '../kernel/clock'
import type { KeyId } from '../kernel/ids'
import { pagesBy } from '../kernel/keyset'
import { mapPage, type Page } from '../kernel/page'
import { rowsOf } from '../kernel/rows'
import type { Reader, Store, Tx } from '../kernel/store'
import { limitErrors } from './errors'
import { type IncreaseSubject, isAbove, subjectOfIncrease, type Tiers } from './limiter'
import { type Decision, type Increase, IncreaseId, type IncreaseQuery, type NewIncrease } from './schema'
import { type IncreaseRow, limitIncreases } from './table'

/** Data of the event that a key moved to a higher tier (docs/api.md 14.2). */
type Upgrade = {
  key_id: KeyId
  previous_tier: Tier
  tier: Tier
  rpm: number
  tpm: number
  /** Null when an operator changed the tier without a request. */
  increase_request_id: IncreaseId | null
}

const rateLimitUpgraded = defineEvent<Upgrade>('rate_limit.upgraded')

const rows = rowsOf(limitIncreases)
const newestFirst = pagesBy(limitIncreases, 'created_at')

/** Runs with every `GET /rate-limits`. The literal status lets the database use the index of pending requests. */
const pendingFor = (db: Reader, subject: string): Promise<IncreaseRow | undefined> =>
  rows.first(db, { subject }, (t) => sql`${t.status} = 'pending'`)

export const listIncreases = (db: Reader, { status, ...wanted }: IncreaseQuery): Promise<Page<IncreaseRow>> =>
  newestFirst(db, wanted, status && eq(db.of(limitIncreases).status, status))

/** The one place where a stored increase request becomes a public object. */
const present = (row: IncreaseRow): Increase => ({
  id: row.id,
  object: 'rate_limit_increase',
  status: row.status,
  user_id: row.user_id,
  key_id: row.key_id,
  current_tier: row.current_tier,
  requested_tier: row.requested_tier,
  granted_tier: row.granted_tier,
  use_case: row.use_case,
  expected_volume: row.expected_volume,
  reason: row.reason,
  created: iso(row.created_at),
  decided_at: isoOrNull(row.decided_at),
})

type Deps = {
  store: Store
  audit: AuditLog
  events: EventBus
  clock: Clock
  tiers: Tiers
  keys: Pick<KeyService, 'tiers' | 'actingAs'>
  orgs: Pick<OrgService, 'user'>
}

export type LimitIncreases = ReturnType<typeof createIncreases>

/**
 * Requests for a higher tier, decisions on them, and tier changes of keys (docs/api.md 21). A key requests for itself,
 * a dashboard session for every personal key of its user, or for the key it names. An approval applies from the next
 * request on.
 */
export function createIncreases({ store, audit, events, clock, tiers, keys, orgs }: Deps) {
  return { request, decide, pendingOf, setTierIn, operator: { list, get, ownerOf, decide: applyDecision } }

  /** Throws 400 for a tier that is not higher, 409 `conflict` while a request is pending or when there are no keys. */
  async function request({ caller: person, ...call }: Call, input: NewIncrease): Promise<Increase> {
    const isNamed = input.key_id !== undefined && person.type === 'session'
    const caller = isNamed ? await keys.actingAs(person, input.key_id!) : person
    const subject = subjectOfIncrease(caller)
    return store.write(async (tx) => {
      const [lowest] = await keys.tiers.inForce(tx, subject.keys)
      if (!lowest) throw limitErrors.noActiveKey()
      if (!isAbove(input.requested_tier, lowest.tier))
        throw limitErrors.tierNotHigher.with({ param: 'requested_tier' }, input.requested_tier, lowest.tier)
      const row = newRow(caller, subject, lowest.tier, input)
      if (!(await rows.add(tx, row))) throw limitErrors.increasePending()
      const { requested_tier } = input
      await audit.record(
        tx,
        { ...call, caller: person },
        {
          action: 'rate_limit.requested',
          entityType: 'rate_limit',
          entityId: row.id,
          scope: row.scope,
          input: { metadata: { current_tier: lowest.tier, requested_tier } },
        },
      )
      return storeAnswer(tx, call, present(row))
    })
  }

  function newRow(caller: TenantCaller, subject: IncreaseSubject, current: Tier, input: NewIncrease): IncreaseRow {
    const { requested_tier, use_case, expected_volume } = input
    return {
      id: IncreaseId.create(),
      subject: subject.name,
      scope: subject.scope,
      user_id: caller.userId,
      key_id: caller.type === 'key' ? caller.keyId : null,
      current_tier: current,
      requested_tier,
      use_case,
      expected_volume,
      status: 'pending',
      granted_tier: null,
      reason: null,
      created_at: clock.now(),
      decided_at: null,
    }
  }

  /**
   * A reviewer's session decides on other people's requests. Throws 403 `forbidden` for everyone else and for the
   * reviewer's own request, 404, 409 when it has been decided.
   */
  async function decide(call: Call, id: string, { decision, reason }: Decision): Promise<Increase> {
    const { caller } = call
    const user = caller.type === 'session' ? await orgs.user(store.read, caller.userId) : null
    if (!user?.platform_role) throw limitErrors.reviewersOnly()
    if ((await find(store.read, id)).user_id === user.id) throw limitErrors.ownRequest()
    return applyDecision(call, id, { decision, reason })
  }

  /** Applies a decision: request, key tiers, audit row and event in one transaction. Throws 404, 409. */
  function applyDecision(
    call: Call<Caller>,
    id: string,
    { decision, reason, tier }: Decision & { tier?: Tier | undefined },
  ) {
    const isApproval = decision === 'approve'
    return store.write(async (tx): Promise<Increase> => {
      const increase = await find(tx, id)
      const granted = isApproval ? (tier ?? increase.requested_tier) : null
      const status = isApproval ? 'approved' : 'rejected'
      const decided = { status, granted_tier: granted, reason: reason ?? null, decided_at: clock.now() } as const
      const row = await rows.change(tx, { id: increase.id, status: 'pending' }, decided)
      if (!row) throw limitErrors.alreadyDecided(increase.status)
      const raised = granted ? await raiseKeys(tx, row, granted) : []
      await audit.record(tx, call, {
        action: isApproval ? 'rate_limit.upgraded' : 'rate_limit.rejected',
        entityType: 'rate_limit',
        entityId: row.id,
        scope: row.scope,
        input: { metadata: { key_ids: raised, ...(granted ? { tier: granted } : {}) } },
      })
      return storeAnswer(tx, call, present(row))
    })
  }

  async function raiseKeys(tx: Tx, { id, key_id, user_id }: IncreaseRow, tier: Tier): Promise<KeyId[]> {
    const found = await keys.tiers.inForce(tx, key_id ? { keyId: key_id } : { userId: user_id })
    const lower = found.filter((key) => isAbove(tier, key.tier))
    for (const key of lower) await changeTier(tx, key, tier, id)
    return lower.map((key) => key.id)
  }

  async function changeTier(tx: Tx, key: TieredKey, tier: Tier, requestId: IncreaseId | null): Promise<void> {
    await keys.tiers.set(tx, key.id, tier)
    if (!isAbove(tier, key.tier)) return
    const { rpm, tpm } = tiers.limitsOf(tier)
    const upgrade: Upgrade = { key_id: key.id, previous_tier: key.tier, tier, rpm, tpm, increase_request_id: requestId }
    await events.emit(tx, rateLimitUpgraded, key.scope, upgrade)
  }

  /** For operators: sets one key's tier, up or down, in the caller's transaction. Throws 409 for a key not in force. */
  async function setTierIn(tx: Tx, call: Call<OperatorCaller>, keyId: KeyId, tier: Tier): Promise<void> {
    const [key] = await keys.tiers.inForce(tx, { keyId })
    if (!key) throw limitErrors.noActiveKey()
    if (key.tier === tier) return
    await changeTier(tx, key, tier, null)
    const metadata = { key_ids: [keyId], previous_tier: key.tier, tier }
    const change = isAbove(tier, key.tier)
      ? ({ action: 'rate_limit.upgraded', entityType: 'rate_limit', input: { metadata } } as const)
      : ({ action: 'key.updated', entityType: 'api_key', input: { fields: ['tier'], metadata } } as const)
    await audit.record(tx, call, { ...change, entityId: keyId, scope: key.scope })
  }

  /** The pending request that would raise this caller's tier; null when there is none. */
  async function pendingOf({ caller }: Call): Promise<Increase | null> {
    const own = await pendingFor(store.read, subjectOfIncrease(caller).name)
    const covering = own ?? (caller.orgId ? undefined : await pendingFor(store.read, `user:${caller.userId}`))
    return covering ? present(covering) : null
  }

  /** For operators: newest first. */
  async function list(_call: Call<OperatorCaller>, query: IncreaseQuery): Promise<Page<Increase>> {
    return mapPage(await listIncreases(store.read, query), present)
  }

  async function get(_call: Call<OperatorCaller>, id: string): Promise<Increase> {
    return present(await find(store.read, id))
  }

  /** For operators: the owner whose keys the request is about. */
  async function ownerOf(id: IncreaseId): Promise<OwnerScope> {
    return (await find(store.read, id)).scope
  }

  async function find(reader: Reader, id: string): Promise<IncreaseRow> {
    const row = IncreaseId.is(id) ? await rows.first(reader, { id }) : undefined
    if (!row) throw limitErrors.increaseNotFound()
    return row
  }
}
