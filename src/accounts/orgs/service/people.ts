import { isBeginning } from '../../../kernel/beginning'
import type { Call, OperatorCaller } from '../../../kernel/caller'
import { notFound } from '../../../kernel/errors'
import { UserId } from '../../../kernel/ids'
import type { Reader, Tx } from '../../../kernel/store'
import { ambiguousUser, emailTaken } from '../errors'
import { accessChanged, accountSwitched } from '../events'
import { orgRepository as rows } from '../repository'
import { normalizeEmail } from '../rules'
import type { NewUser } from '../schema'
import type { UserRow } from '../table'
import type { OrgDeps } from './deps'

/** User accounts. */
export function createPeople({ store, audit, events, clock }: OrgDeps) {
  return {
    createUser,
    setUserDisabled,
    /** Replaces a password hash; false when it is no longer the one in the given row. */
    setPassword: rows.setPassword,
    user: rows.user,
    userByIdPrefix,
    userByEmail: (reader: Reader, email: string) => rows.userByEmail(reader, normalizeEmail(email)),
    oldestUser: rows.oldestUser,
    /** For operators: newest first. */
    users: rows.allUsers,
  }

  /** For operators: the user whose id starts with `word`. Throws 400 when several do. */
  async function userByIdPrefix(reader: Reader, word: string): Promise<UserRow | undefined> {
    const found = isBeginning(word) ? await rows.usersByIdPrefix(reader, word) : []
    const ids = found.map(({ id }) => id)
    if (found.length > 1) throw ambiguousUser(word, ids)
    return found[0]
  }

  /** Creates an account in the caller's transaction. Throws 409 `conflict` when the address has one. */
  async function createUser(tx: Tx, { email, name, passwordHash, platformRole }: NewUser): Promise<UserRow> {
    const row: UserRow = {
      id: UserId.create(),
      email: normalizeEmail(email),
      name: name ?? null,
      password_hash: passwordHash ?? null,
      platform_role: platformRole ?? null,
      active_org_id: null,
      disabled_at: null,
      created_at: clock.now(),
    }
    if (!(await rows.insertUser(tx, row))) throw emailTaken()
    return row
  }

  /** For operators: disables or enables an account. Its keys follow at once; its sessions end either way. */
  async function setUserDisabled(call: Call<OperatorCaller>, userId: UserId, disabled: boolean): Promise<void> {
    await store.write(async (tx) => {
      if (!(await rows.setUserDisabled(tx, userId, disabled ? clock.now() : null))) throw notFound('user')
      const action = disabled ? 'user.disabled' : 'user.enabled'
      await audit.record(tx, call, { action, entityType: 'user', entityId: userId, scope: `user:${userId}` })
      await events.emit(tx, accountSwitched, `user:${userId}`, { userId })
      await events.emit(tx, accessChanged, `user:${userId}`, { userId })
    })
  }
}
