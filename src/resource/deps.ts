import type { Call, Caller, OwnerScope, TenantCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { KeyId, OrgId, UserId } from '../kernel/ids'
import type { Reader, Store, Tx } from '../kernel/store'

/** An owner that an operator names. `userId` acts for the owner, and is null for a deleted organization. */
type Named = { scope: OwnerScope; name: string; userId: UserId | null; orgId: OrgId | null }

/** Functions of later modules that resources need. They are injected, so that any module may define a resource. */
export type ResourceDeps = {
  store: Store
  clock: Clock
  audit: {
    record(
      tx: Tx,
      call: Call<Caller>,
      entry: { action: string; entityType: string; entityId: string | null; scope?: string; input?: object },
    ): Promise<unknown>
  }
  storeAnswer<T>(tx: Tx, call: Pick<Call, 'once'>, answer: T): Promise<T>
  orgs: {
    roleOf(reader: Reader, orgId: OrgId, userId: UserId): Promise<string | null>
    mayDo(role: string | null, permission: string): boolean
    orgIdsWith(reader: Reader, userId: TenantCaller['userId'], permission: string): Promise<OrgId[]>
    lockOwner(tx: Tx, owner: { userId: UserId; orgId: OrgId | null }): Promise<void>
    /** Finds an owner by id, name or address. Without a word, the account of the first run. Throws 404. */
    findOwner(reader: Reader, word: string | undefined): Promise<Named>
    /** The same for reading: without a word throws 400, unless the server has one account. */
    ownerToRead(reader: Reader, word: string | undefined): Promise<Named>
    /** Throws 409 for a deleted organization. */
    actingUserOf(owner: Named): UserId
    /** Calls `end` in the transaction that deletes an organization. */
    onEnd(end: (tx: Tx, ended: { orgId: OrgId; call: Call<Caller> }) => Promise<void>): void
  }
  /** Settings attached to keys. */
  bindings: {
    of(reader: Reader, keyId: KeyId): Promise<object | null>
    counts(reader: Reader, column: string, ids: readonly string[]): Promise<Map<string, number>>
    clear(tx: Tx, call: Call<Caller>, column: string, id: string): Promise<KeyId[]>
  }
}
