import type { Call, Caller } from '../kernel/caller'
import { notFound } from '../kernel/errors'
import type { KeyId } from '../kernel/ids'
import type { Page } from '../kernel/page'
import { isUniqueViolation, type Reader, type Tx } from '../kernel/store'
import type { AnyNoun, ChangedOf, MadeOf, NewOf, OwnOf, PatchOf, ReplyOf, RowOf, ViewOf } from './declaration'
import type { ResourceDeps } from './deps'
import { defaultTaken, tooMany } from './errors'
import { createReach, type Whose } from './reach'
import { type Listed, type OwnedRow, type OwnedScope, type Rows, scopeOf } from './rows'

/** What a noun does itself. */
export type Hooks<N extends AnyNoun> = {
  /** The most that one owner may have. */
  most: number
  /**
   * Reads the members that were sent, as columns; undefined for those that were not. Runs before the transaction, once
   * the caller may make the change: it may take long. `before` is what a patch is for. Throws what is wrong with them.
   */
  read(
    sent: NewOf<N> | PatchOf<N>,
    call: Call<Caller>,
    before: RowOf<N> | null,
  ): Promise<{ [C in keyof OwnOf<N>]?: OwnOf<N>[C] | undefined }>
  /** What else belongs to the change, in its transaction: rows that go with it, events, what to forget afterwards. */
  changed?(tx: Tx, change: Change<N>): void | Promise<void>
  /** What the answer of POST or PATCH has besides the one it is about, where the noun declares such words. */
  answer?(tx: Tx, answered: Answered<N>): object | Promise<object>
}

export type Resource<N extends AnyNoun> = ReturnType<typeof createResource<N>>
export type Declared<N extends AnyNoun> = N & { rows: Rows<RowOf<N>> }
export type Change<N extends AnyNoun> = {
  call: Call<Caller>
  /** `created`, `updated`, `deleted`, or what a verb by hand did. */
  verb: string
  row: RowOf<N>
  /** As it was, where it was changed. */
  before?: RowOf<N>
  /** The keys that a deleted one was bound to. */
  unbound: readonly KeyId[]
}
type About<N extends AnyNoun> = Omit<Change<N>, 'unbound'> & Partial<Change<N>>
export type Answered<N extends AnyNoun> = { verb: 'created' | 'updated'; row: RowOf<N>; sent: NewOf<N> | PatchOf<N> }
type Input = { fields?: string[]; metadata?: Record<string, unknown> }

/**
 * The verbs of a resource, for tenants and operators alike. A foreign, an unknown and a malformed id are the same 404
 * (I22); each change is recorded in its owner's chain, in the transaction that makes it (I19).
 */
export function createResource<N extends AnyNoun>(deps: ResourceDeps, noun: Declared<N>, hooks: Hooks<N>) {
  const { store, clock, audit, orgs, bindings } = deps
  const { rows, title, boundTo } = noun
  const { reachOf, placeOf, assertMayMake, assertMayChange } = createReach(deps, noun)
  type Row = RowOf<N>
  type View = ViewOf<N>
  type Reply = ReplyOf<N>

  orgs.onEnd(async (tx, { orgId, call }) => {
    for await (const row of rows.removeAll(tx, `org:${orgId}`)) await record(tx, { call, verb: 'deleted', row })
  })
  const byHand = { reachOf, assertMayMake, find, findLocked, findToChange, add, change, record, present }
  return { noun: noun as N, ...byHand, list, get, create, update, remove }

  async function find(reader: Reader, caller: Caller, id: string): Promise<Row> {
    const row = noun.id.is(id) ? await rows.find(reader, await reachOf(reader, caller), id) : undefined
    if (!row) throw notFound(title.one)
    if (noun.guarded) await assertMayMake(reader, caller, row)
    return row
  }

  /** The same inside a unit, with the row locked until it commits. */
  async function findLocked(tx: Tx, caller: Caller, id: string): Promise<Row> {
    const row = noun.id.is(id) ? await rows.findLocked(tx, await reachOf(tx, caller), id) : undefined
    if (!row) throw notFound(title.one)
    return row
  }

  /** As `findLocked`, for a change: throws 403 unless the caller may make it. */
  async function findToChange(tx: Tx, caller: Caller, id: string): Promise<Row> {
    const row = await findLocked(tx, caller, id)
    await assertMayChange(tx, caller, row)
    return row
  }

  /** Changes a row of `findToChange`. Every change is seen in `updated_at`. */
  async function change(tx: Tx, about: About<N>, columns: Partial<Row>, input?: Input): Promise<Row> {
    const { call, verb, row } = about
    const updated_at = Math.max(clock.now(), row.updated_at + 1)
    const changed = await rows.update(tx, [row.owner], row.id, { ...columns, updated_at })
    await record(tx, { call, verb, row: changed, before: row }, input)
    return changed
  }

  /** Newest first. */
  async function list({ caller }: Call<Caller>, query: Listed, { owner }: Whose = {}): Promise<Page<View>> {
    if (noun.guarded && caller.type !== 'operator')
      await assertMayMake(store.read, caller, await placeOf(store.read, caller))
    const page = await rows.list(store.read, await reachOf(store.read, caller, owner), query)
    return { ...page, items: await presentAll(store.read, page.items) }
  }

  async function get({ caller }: Call<Caller>, id: string): Promise<Reply> {
    return present(store.read, await find(store.read, caller, id))
  }

  /** Bound to no key. Throws what `read` and `placeOf` throw, and 409 where the owner has a default or the most. */
  async function create(call: Call<Caller>, order: NewOf<N>, { owner }: Whose = {}): Promise<MadeOf<N>> {
    const { scope } = (noun.owned === 'either' ? order : {}) as { scope?: OwnedScope }
    const place = await placeOf(store.read, call.caller, scope, owner)
    await assertMayMake(store.read, call.caller, place)
    const content = sent(await hooks.read(order, call, null))
    const now = clock.now()
    const row = { id: noun.id.create(), ...place, ...noun.empty, ...content, created_at: now, updated_at: now } as Row
    return unlessTaken(row, async (tx) => {
      await add(tx, { call, verb: 'created', row }, { metadata: { scope: scopeOf(row) } })
      return deps.storeAnswer(tx, call, await answer<MadeOf<N>>(tx, { verb: 'created', row, sent: order }))
    })
  }

  /** Inserts a row that is complete. Throws 403 unless the caller may make it, and 409 where its owner has the most. */
  async function add(tx: Tx, about: About<N>, input?: Input): Promise<void> {
    const { call, row } = about
    await assertMayMake(tx, call.caller, row)
    if (call.caller.type !== 'operator') await assertRoom(tx, row)
    await rows.insert(tx, row)
    await record(tx, about, input)
  }

  /** The owner is locked: concurrent requests count each other. */
  async function assertRoom(tx: Tx, { owner, user_id: userId, org_id: orgId }: OwnedRow): Promise<void> {
    await orgs.lockOwner(tx, { userId, orgId })
    if ((await rows.count(tx, owner)) >= hooks.most) throw tooMany(title, hooks.most, noun.most.env)
  }

  /** What is left out stays. Checked before the body is read, so that a caller without permission learns nothing. */
  async function update(call: Call<Caller>, id: string, patch: PatchOf<N>): Promise<ChangedOf<N>> {
    const before = await find(store.read, call.caller, id)
    await assertMayChange(store.read, call.caller, before)
    const columns = sent(await hooks.read(patch, call, before)) as Partial<Row>
    const fields = Object.keys(columns)
    return unlessTaken(before, async (tx) => {
      const row = await findToChange(tx, call.caller, id)
      const changed = fields.length ? await change(tx, { call, verb: 'updated', row }, columns, { fields }) : row
      return answer<ChangedOf<N>>(tx, { verb: 'updated', row: changed, sent: patch })
    })
  }

  /** The keys it was bound to have none from now on. */
  function remove(call: Call<Caller>, id: string): Promise<{ deleted: true }> {
    return store.write(async (tx) => {
      const row = await findToChange(tx, call.caller, id)
      const unbound = boundTo ? await bindings.clear(tx, call, boundTo.column, row.id) : []
      await rows.remove(tx, [row.owner], row.id)
      const metadata = boundTo ? { metadata: { bound_keys: unbound.length } } : {}
      await record(tx, { call, verb: 'deleted', row, unbound }, metadata)
      return { deleted: true }
    })
  }

  /** Records what was done, in the owner's chain, and runs what belongs to it. */
  async function record(tx: Tx, about: About<N>, input: Input = {}): Promise<void> {
    const { call, verb, row, before, unbound = [] } = about
    const entity = { entityType: noun.name, entityId: row.id, scope: row.owner }
    await audit.record(tx, call, { action: `${noun.name}.${verb}`, ...entity, input })
    await hooks.changed?.(tx, { call, verb, row, unbound, ...(before ? { before } : {}) })
  }

  async function answer<Said>(tx: Tx, answered: Answered<N>): Promise<Said> {
    const reply = await present(tx, answered.row)
    return { ...reply, ...(await hooks.answer?.(tx, answered)) } as Said
  }

  async function present(reader: Reader, row: Row): Promise<Reply> {
    const [view] = await presentAll(reader, [row])
    return (noun.wrap ? { [noun.wrap]: view } : view) as Reply
  }

  async function presentAll(reader: Reader, found: readonly Row[]): Promise<View[]> {
    const ids = found.map(({ id }) => id)
    const bound = boundTo ? await bindings.counts(reader, boundTo.column, ids) : null
    return found.map((row) => noun.present(row as never, { boundKeys: bound?.get(row.id) ?? 0 }) as View)
  }

  /** The database allows an owner one default: a second one is refused with the name of the first. */
  async function unlessTaken<T>({ owner }: OwnedRow, unit: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await store.write(unit)
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      throw defaultTaken(title, (await rows.defaultOf(store.read, owner))?.name ?? null)
    }
  }
}

/** The members that are there. */
const sent = (members: object): object =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
