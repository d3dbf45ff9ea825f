import { storeAnswer } from '../../idempotency'
import type { Call, Caller } from '../../kernel/caller'
import type { Page } from '../../kernel/page'
import { isUniqueViolation, type Reader, type Tx } from '../../kernel/store'
import { defaultTaken, tooManyPreferences } from '../errors'
import { present } from '../present'
import { type Reach, preferenceRepository as rows } from '../repository'
import { readContent } from '../rules'
import {
  type NewPreference,
  type Preference,
  PreferenceId,
  type PreferencePatch,
  type PreferenceQuery,
} from '../schema'
import type { PreferenceRow } from '../table'
import { trialOf } from '../trial'
import { assertMayChange, ownersSeen, type PreferenceDeps, placeOf, recordOn, seen, seenLocked } from './deps'

/** Creates, reads, changes and deletes preferences (contract 13). */
export function createManage(deps: PreferenceDeps) {
  const { store, clock, bindings, effective, orgs, settings } = deps
  return { create, list, get, update, remove, createFor, listOf }

  /**
   * `POST /routing-preferences`; binds it to no key. Throws 400 `routing_preference_invalid` and `org_required`,
   * 403 `missing_scope`, 409 `conflict` when the scope has its default or as many preferences as allowed.
   */
  async function create(call: Call, input: NewPreference): Promise<Preference> {
    const place = await placeOf(deps, store.read, call.caller, input.scope)
    return createFor(call, { ...place, user_id: call.caller.userId }, input)
  }

  /** The same for an owner that an operator names. */
  async function createFor(call: Call<Caller>, place: Place, input: NewPreference): Promise<Preference> {
    const { name, description = null, is_default = false } = input
    const whole = { rules: [], examples: [], confidence_floor_overrides: {}, ...input }
    const content = named(await readContent(whole, effective.vetting(trialOf(call))))
    const now = clock.now()
    const row = {
      id: PreferenceId.create(),
      ...place,
      name,
      description,
      is_default,
      rules: [],
      examples: [],
      floors: {},
      ...content,
      created_at: now,
      updated_at: now,
    } satisfies PreferenceRow
    return orTaken(row, () =>
      store.write(async (tx) => {
        if (call.caller.type !== 'operator') await assertRoom(tx, row)
        await rows.insert(tx, row)
        await recordOn(deps, tx, call, row, { action: 'routing_preference.created', metadata: { scope: row.scope } })
        return storeAnswer(tx, call, present(row, 0))
      }),
    )
  }

  /** The owner is locked: concurrent requests count each other. Throws 409 `conflict`. */
  async function assertRoom(tx: Tx, { owner, user_id: userId, org_id: orgId }: PreferenceRow): Promise<void> {
    await orgs.lockOwner(tx, { userId, orgId })
    if ((await rows.count(tx, owner)) >= settings.maxPreferences) throw tooManyPreferences(settings.maxPreferences)
  }

  /** `GET /routing-preferences`: newest first. */
  async function list({ caller }: Call, query: PreferenceQuery): Promise<Page<Preference>> {
    return listOf(await ownersSeen(deps, store.read, caller), query)
  }

  /** The same for any owners. */
  async function listOf(owners: Reach, query: PreferenceQuery): Promise<Page<Preference>> {
    const page = await rows.list(store.read, { owners, ...query })
    const ids = page.items.map(({ id }) => id)
    const counts = await bindings.counts(store.read, 'routing_preference_id', ids)
    return { ...page, items: page.items.map((row) => present(row, counts.get(row.id) ?? 0)) }
  }

  /** `GET /routing-preferences/{id}`. Throws 404. */
  async function get({ caller }: Call<Caller>, id: string): Promise<Preference> {
    return presentCounted(store.read, await seen(deps, store.read, caller, id))
  }

  /** `PATCH /routing-preferences/{id}`: what is left out stays, arrays replace. Throws as `create`, and 404. */
  async function update(call: Call<Caller>, id: string, patch: PreferencePatch): Promise<Preference> {
    // Checked before the body, so that a caller without permission learns nothing and has no pattern compiled.
    const stored = await seen(deps, store.read, call.caller, id)
    await assertMayChange(deps, store.read, call.caller, stored)
    const { name, description, is_default } = patch
    const content = await readContent(patch, effective.vetting(trialOf(call)))
    const change = named({ name, description, is_default, ...content })
    const fields = Object.keys(change)
    return orTaken(stored, () =>
      store.write(async (tx) => {
        const before = await seenLocked(deps, tx, call.caller, id)
        await assertMayChange(deps, tx, call.caller, before)
        if (!fields.length) return presentCounted(tx, before)
        const updated_at = Math.max(clock.now(), before.updated_at + 1)
        const row = await rows.update(tx, before.id, { ...change, updated_at })
        await recordOn(deps, tx, call, row, { action: 'routing_preference.updated', fields })
        return presentCounted(tx, row)
      }),
    )
  }

  /** `DELETE /routing-preferences/{id}`: keys it is bound to are unbound with it. Throws 404, 403. */
  async function remove(call: Call<Caller>, id: string): Promise<{ deleted: true }> {
    return store.write(async (tx) => {
      const row = await seenLocked(deps, tx, call.caller, id)
      await assertMayChange(deps, tx, call.caller, row)
      await rows.remove(tx, row.id)
      const unbound = await bindings.clear(tx, call, 'routing_preference_id', row.id)
      const metadata = { bound_keys: unbound.length }
      await recordOn(deps, tx, call, row, { action: 'routing_preference.deleted', metadata })
      tx.afterCommit(() => unbound.forEach(effective.forgetKey))
      return { deleted: true }
    })
  }

  async function presentCounted(db: Reader, row: PreferenceRow): Promise<Preference> {
    const counts = await bindings.counts(db, 'routing_preference_id', [row.id])
    return present(row, counts.get(row.id) ?? 0)
  }

  /** A unique index allows one default per owner; its violation becomes a 409 that names the present default. */
  async function orTaken<T>(
    { owner, scope }: Pick<PreferenceRow, 'owner' | 'scope'>,
    unit: () => Promise<T>,
  ): Promise<T> {
    try {
      return await unit()
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      throw defaultTaken(scope, (await rows.defaultOf(store.read, owner))?.name ?? null)
    }
  }
}

/** Owner and scope of a new preference, and the user recorded as its maker. */
export type Place = Pick<PreferenceRow, 'owner' | 'org_id' | 'scope' | 'user_id'>

type Named<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

const named = <T extends object>(members: T): Named<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Named<T>
