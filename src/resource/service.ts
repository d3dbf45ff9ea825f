import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type Call, type Caller, type OwnerScope, ownerOf, type TenantCaller } from '../kernel/caller'
import { notFound } from '../kernel/errors'
import type { KeyId, OrgId, UserId } from '../kernel/ids'
import type { Page } from '../kernel/page'
import type { Static, TSchema } from '../kernel/schema'
import { isUniqueViolation, type Reader, type Table, type Tx } from '../kernel/store'
import type { ResourceDeps } from './deps'
import { resourceErrors, teamNeedsOrg, teamOfPerson } from './errors'
import {
  createRows,
  type Listed,
  type OwnedRow,
  type OwnedScope,
  type OwnedTable,
  type Params,
  type Rows,
  type Scope,
  scopeOf,
} from './rows'

/** Facts about an instance that its row does not contain. */
export type Facts = { boundKeys: number }

/** The declaration of a resource. `defineResource` checks the parts against each other. */
export type AnyNoun = {
  /** Its name in responses and in the audit log: `guardrail_policy`. */
  name: string
  /** Its name in sentences. */
  title: { one: string; many: string }
  /** `/guardrail-policies`, on both APIs. */
  path: string
  /** The member with the items of a list: `guardrail_policies`. */
  plural: string
  table: Table<OwnedTable>
  id: { create(): string; is(word: string): boolean }
  /** The bodies of POST and PATCH, one instance, and the query and response of a list. */
  words: {
    New: TSchema
    Patch: TSchema
    View: TSchema
    Query: TSchema
    Page: TSchema
    /** The responses of POST and PATCH if they contain more than the instance. See the hook `answer`. */
    Made?: TSchema
    Changed?: TSchema
  }
  /** The summary of each route in the API document. */
  summaries: { create: string; list: string; get: string; update: string; remove: string }
  /**
   * The owner of a new instance. `either`: a person or the active organization, as the body's `scope` says. `team`: the
   * active organization, or a person without one. `account`: the organization of the calling key, else the person.
   */
  owned: 'either' | 'team' | 'account'
  /**
   * With `either`: whether a person sees the instances of the active organization or of all their organizations. With
   * `account`: a person in a session also sees those of the active organization.
   */
  reach?: 'active org' | 'every org'
  /** The order of its list, if not by creation time. */
  listed?: Params
  /** The column that searches show and match, if not the name. */
  label?: string
  /** The permission in the organization that a member needs to create and change the team's instances. */
  permission: 'manageWebhooks' | 'manageSkills' | 'manageConnectors' | 'manageApiKeys'
  /** The response member that contains the instance: `canvas` for `{"canvas":{…}}`. Flat if omitted. */
  wrap?: string
  /** Reading a team's instances needs the permission too. */
  guarded?: boolean
  /** The members with the owner's content, which operators see as `support`. All members if omitted. */
  holds?: 'facts' | readonly string[]
  /** Additional errors of creating one, such as 404 if it names a key. */
  createErrors?: readonly 404[]
  /** The setting that limits the number per owner. */
  max: { env: string }
  /**
   * The column of keys that contains its id. With `contains`, a key bound to it may not change it. A leaked key could
   * otherwise free itself from its restrictions.
   */
  boundTo?: { column: string; contains: boolean }
  /** The columns of a new row that the request body does not set. */
  empty: object
  /** An instance as the API shows it. `boundKeys` is the number of keys bound to it. */
  present(row: never, facts: Facts): object
}

type RowOf<N extends AnyNoun> =
  N['table'] extends Table<infer T extends SQLiteTable> ? T['$inferSelect'] & OwnedRow : never

type NewOf<N extends AnyNoun> = Static<N['words']['New']>

type PatchOf<N extends AnyNoun> = Static<N['words']['Patch']>

type ViewOf<N extends AnyNoun> = Static<N['words']['View']>

/** The response with one instance. */
export type ReplyOf<N extends AnyNoun> = N extends { wrap: infer Member extends string }
  ? { [M in Member]: ViewOf<N> }
  : ViewOf<N>

type DeclarationMessage<N extends AnyNoun, Word extends 'Made' | 'Changed'> =
  N['words'] extends Record<Word, infer S extends TSchema> ? Static<S> : ReplyOf<N>

/** The responses of POST and PATCH. */
export type MadeOf<N extends AnyNoun> = DeclarationMessage<N, 'Made'>

export type ChangedOf<N extends AnyNoun> = DeclarationMessage<N, 'Changed'>

/** The resource's own columns. */
type OwnOf<N extends AnyNoun> = Omit<RowOf<N>, Exclude<keyof OwnedRow, 'name' | 'is_default'>>

type Fits<N extends AnyNoun> = {
  empty: Partial<OwnOf<N>>
  present(row: RowOf<N>, facts: Facts): ViewOf<N>
}

/** Declares a resource and creates the queries of its rows. The parameters of `present` need explicit types. */
export const defineResource = <const N extends AnyNoun>(noun: N & Fits<N>) => ({
  ...(noun as N),
  rows: createRows<RowOf<N>>(noun.table, (noun as AnyNoun).listed),
})

/** The owner of a new row and its creator. */
type Place = Pick<OwnedRow, 'owner' | 'org_id' | 'user_id'>

/** The owner that an operator names. */
export type OwnerFilter = { owner?: string | undefined }

/** The account that a caller acts for, or the owner that an operator names. Throws 404, and 400 when none is named. */
export const accountOf = async (
  { store, orgs }: Pick<ResourceDeps, 'store' | 'orgs'>,
  { caller }: Call<Caller>,
  { owner }: OwnerFilter,
): Promise<OwnerScope> =>
  caller.type === 'operator' ? (await orgs.ownerToRead(store.read, owner)).scope : ownerOf(caller)

const personal = (userId: UserId): Place => ({ owner: `user:${userId}`, org_id: null, user_id: userId })

const team = (orgId: OrgId, userId: UserId): Place => ({ owner: `org:${orgId}`, org_id: orgId, user_id: userId })

const placeOfTeam = ({ activeOrgId, userId }: TenantCaller): Place =>
  activeOrgId ? team(activeOrgId, userId) : personal(userId)

/** The parts that a resource implements itself. */
export type Hooks<N extends AnyNoun> = {
  /** Maximum number per owner. */
  max: number
  /**
   * Converts the members of a request to columns. Omitted members are undefined. Runs before the transaction, after the
   * permission check, so it may take long. `before` is the row that a patch changes. Throws validation errors.
   */
  read(
    sent: NewOf<N> | PatchOf<N>,
    call: Call<Caller>,
    before: RowOf<N> | null,
  ): Promise<{ [C in keyof OwnOf<N>]?: OwnOf<N>[C] | undefined }>
  /** Runs in the transaction of a change: related rows, events, caches to clear after the commit. */
  changed?(tx: Tx, change: Change<N>): void | Promise<void>
  /** Additional members of a POST or PATCH response, if the resource declares `Made` or `Changed`. */
  answer?(tx: Tx, answered: Answered<N>): object | Promise<object>
}

export type Resource<N extends AnyNoun> = ReturnType<typeof createResource<N>>
export type Declared<N extends AnyNoun> = N & { rows: Rows<RowOf<N>> }
export type Change<N extends AnyNoun> = {
  call: Call<Caller>
  /** `created`, `updated`, `deleted`, or the name of a custom verb. */
  verb: string
  row: RowOf<N>
  /** The previous row of a change. */
  before?: RowOf<N>
  /** The keys that were bound to a deleted instance. */
  unbound: readonly KeyId[]
}
type About<N extends AnyNoun> = Omit<Change<N>, 'unbound'> & Partial<Change<N>>
export type Answered<N extends AnyNoun> = { verb: 'created' | 'updated'; row: RowOf<N>; sent: NewOf<N> | PatchOf<N> }
type Input = { fields?: string[]; metadata?: Record<string, unknown> }

/**
 * The verbs of a resource, for tenants and operators alike. A foreign, an unknown and a malformed id give the same 404
 * (docs/promises.md I22). Each change is recorded in its owner's audit chain, in the transaction that makes it
 * (docs/promises.md I19).
 */
export function createResource<N extends AnyNoun>(deps: ResourceDeps, noun: Declared<N>, hooks: Hooks<N>) {
  const { store, clock, audit, orgs, bindings } = deps
  const { rows, title, boundTo } = noun
  const { reachOf: ownerScopeOf, placeOf, assertMayMake, assertMayChange } = createReach(deps, noun)
  type Row = RowOf<N>
  type View = ViewOf<N>
  type Reply = ReplyOf<N>

  orgs.onEnd(async (tx, { orgId, call }) => {
    for await (const row of rows.removeAll(tx, `org:${orgId}`)) await record(tx, { call, verb: 'deleted', row })
  })
  const byHand = { reachOf: ownerScopeOf, assertMayMake, find, findLocked, findToChange, add, change, record, present }
  return { resource: noun as N, ...byHand, list, get, create, update, remove }

  async function find(reader: Reader, caller: Caller, id: string): Promise<Row> {
    const row = noun.id.is(id) ? await rows.find(reader, await ownerScopeOf(reader, caller), id) : undefined
    if (!row) throw notFound(title.one)
    if (noun.guarded) await assertMayMake(reader, caller, row)
    return row
  }

  /** Finds the row in a transaction and locks it until the commit. */
  async function findLocked(tx: Tx, caller: Caller, id: string): Promise<Row> {
    const row = noun.id.is(id) ? await rows.findLocked(tx, await ownerScopeOf(tx, caller), id) : undefined
    if (!row) throw notFound(title.one)
    return row
  }

  /** Like `findLocked`, for a change: throws 403 unless the caller may make it. */
  async function findToChange(tx: Tx, caller: Caller, id: string): Promise<Row> {
    const row = await findLocked(tx, caller, id)
    await assertMayChange(tx, caller, row)
    return row
  }

  /** Changes a row found by `findToChange`. Every change increases `updated_at`. */
  async function change(tx: Tx, about: About<N>, columns: Partial<Row>, input?: Input): Promise<Row> {
    const { call, verb, row } = about
    const updated_at = Math.max(clock.now(), row.updated_at + 1)
    const changed = await rows.update(tx, [row.owner], row.id, { ...columns, updated_at })
    await record(tx, { call, verb, row: changed, before: row }, input)
    return changed
  }

  /** Newest first. */
  async function list({ caller }: Call<Caller>, query: Listed, { owner }: OwnerFilter = {}): Promise<Page<View>> {
    if (noun.guarded && caller.type !== 'operator')
      await assertMayMake(store.read, caller, await placeOf(store.read, caller))
    const page = await rows.list(store.read, await ownerScopeOf(store.read, caller, owner), query)
    return { ...page, items: await presentAll(store.read, page.items) }
  }

  async function get({ caller }: Call<Caller>, id: string): Promise<Reply> {
    return present(store.read, await find(store.read, caller, id))
  }

  /** Bound to no key. Throws the errors of `read` and `placeOf`, and 409 for a second default or too many instances. */
  async function create(call: Call<Caller>, order: NewOf<N>, { owner }: OwnerFilter = {}): Promise<MadeOf<N>> {
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

  /** Inserts a complete row. Throws 403 unless the caller may create it, and 409 when its owner has too many. */
  async function add(tx: Tx, about: About<N>, input?: Input): Promise<void> {
    const { call, row } = about
    await assertMayMake(tx, call.caller, row)
    // Locks the owner, so that concurrent requests count each other.
    if (call.caller.type !== 'operator') {
      await orgs.lockOwner(tx, { userId: row.user_id, orgId: row.org_id })
      if ((await rows.count(tx, row.owner)) >= hooks.max) throw resourceErrors.tooMany(title, hooks.max, noun.max.env)
    }
    await rows.insert(tx, row)
    await record(tx, about, input)
  }

  /** Omitted members stay unchanged. Checks the permission first, so that an unauthorized caller learns nothing. */
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

  /** Also unbinds the keys that were bound to it. */
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

  /** Records a change in the owner's audit chain and runs the `changed` hook. */
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

  /** The database permits one default per owner. Throws 409 with the name of the existing default. */
  async function unlessTaken<T>({ owner }: OwnedRow, unit: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await store.write(unit)
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      throw resourceErrors.defaultTaken(title, (await rows.defaultOf(store.read, owner))?.name ?? null)
    }
  }
}

/** Removes undefined members. */
const sent = (members: object): object =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

/** The owners whose rows a caller sees, the owner of new rows, and the rows a caller may change. */
function createReach({ orgs, bindings }: Pick<ResourceDeps, 'orgs' | 'bindings'>, noun: AnyNoun) {
  return { reachOf: scopeOf, placeOf, assertMayMake, assertMayChange }

  /** An organization's key sees its organization's rows. `owner` narrows only what an operator sees. */
  async function scopeOf(reader: Reader, caller: Caller, owner?: string): Promise<Scope> {
    if (caller.type === 'operator') {
      return owner === undefined ? 'everyone' : [(await orgs.findOwner(reader, owner)).scope]
    }
    if (noun.owned === 'account') {
      const seen = noun.reach === 'active org' && caller.type === 'session' ? caller.activeOrgId : null
      return seen ? [ownerOf(caller), `org:${seen}`] : [ownerOf(caller)]
    }
    if (noun.owned === 'team') return [placeOfTeam(caller).owner]
    if (caller.orgId) return [`org:${caller.orgId}`]
    const active = caller.activeOrgId ? [caller.activeOrgId] : []
    const own = noun.reach === 'every org' ? await orgs.orgIdsWith(reader, caller.userId, 'viewUsage') : active
    return [`user:${caller.userId}`, ...own.map((id): OwnerScope => `org:${id}`)]
  }

  /**
   * By default, rows created by an organization's key belong to its team, because the key acts for it. Throws 400
   * `org_required`, and 403 when such a key requests a personal one. For operators, throws 404 for the owner, and 400
   * when a person's row should be a team's.
   */
  async function placeOf(reader: Reader, caller: Caller, wanted?: OwnedScope, owner?: string): Promise<Place> {
    if (caller.type === 'operator') {
      const named = await orgs.findOwner(reader, owner)
      const userId = orgs.actingUserOf(named)
      if ((wanted ?? (named.orgId ? 'team' : 'personal')) === 'personal') return personal(userId)
      if (!named.orgId) throw teamOfPerson(named.name)
      return team(named.orgId, userId)
    }
    if (noun.owned === 'account') return caller.orgId ? team(caller.orgId, caller.userId) : personal(caller.userId)
    if (noun.owned === 'team') return placeOfTeam(caller)
    if ((wanted ?? (caller.orgId ? 'team' : 'personal')) === 'personal') {
      if (caller.orgId) throw resourceErrors.personalFromOrgKey(noun.title)
      return personal(caller.userId)
    }
    if (!caller.activeOrgId) throw teamNeedsOrg()
    return team(caller.activeOrgId, caller.userId)
  }

  /** Throws 403 unless the caller's role may create and change the team's rows. */
  async function assertMayMake(reader: Reader, caller: Caller, { org_id }: Pick<OwnedRow, 'org_id'>): Promise<void> {
    if (!org_id || caller.type === 'operator') return
    const role = await orgs.roleOf(reader, org_id, caller.userId)
    if (orgs.mayDo(role, noun.permission)) return
    const refusal =
      noun.owned === 'either' ? resourceErrors.chosenTeamNeedsPermission : resourceErrors.teamNeedsPermission
    throw refusal(noun.title, noun.permission, role)
  }

  /** Throws as `assertMayMake`, and for a key that the row restricts. A default restricts no key in this sense. */
  async function assertMayChange(reader: Reader, caller: Caller, row: OwnedRow): Promise<void> {
    await assertMayMake(reader, caller, row)
    if (caller.type !== 'key' || !noun.boundTo?.contains) return
    const bound = (await bindings.of(reader, caller.keyId)) as Record<string, unknown> | null
    if (bound?.[noun.boundTo.column] === row.id) throw resourceErrors.keyIsBound(noun.title)
  }
}
