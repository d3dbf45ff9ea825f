import type { OwnerScope } from '../../kernel/caller'
import { defineErrors, invalidInput } from '../../kernel/errors'
import { type OrgId, UserId } from '../../kernel/ids'
import type { Reader } from '../../kernel/store'
import { exactUser, findOrg, userByIdPrefix } from './access'
import { orgRepository as rows } from './repository'
import type { OrgRow, UserRow } from './table'

/** `userId` is the user who acts for the owner: for an org its first owner, null once the org is deleted. */
export type Owner = { scope: OwnerScope; name: string; userId: UserId | null; orgId: OrgId | null }

const ownerErrors = {
  ...defineErrors('not_found', {
    ownerNotFound: (ref: string) =>
      `No organization or user "${ref}". Name one by id, slug, e-mail address or exact name.`,
    noAccountYet:
      'This server has no account yet. Creating the first key creates one: svc-admin keys create --name NAME',
  }),
  ...defineErrors('conflict', {
    orgWasDeleted: (name: string) =>
      `Organization "${name}" was deleted, so nothing can be created or paid for it. Its ledger, usage and audit events can still be read.`,
  }),
}

/** Throws 409 `conflict` for a deleted org: its ledger stays, but no user can act for it. */
export function actingUserOf({ userId, name }: Owner): UserId {
  if (!userId) throw ownerErrors.orgWasDeleted(name)
  return userId
}

/**
 * Finds an owner by an operator's reference: org by id, slug or name, user by id or e-mail, start of an id
 * (docs/operating.md 2.1). Throws 404.
 */
export async function findOwner(reader: Reader, ref: string | undefined): Promise<Owner> {
  // Default without a reference: the account the first run created, or that account's active org.
  if (ref === undefined) {
    const user = await rows.oldestUser(reader)
    if (!user) throw ownerErrors.noAccountYet()
    const org = user.active_org_id ? await findOrg(reader, user.active_org_id) : null
    return org ? asOrg(reader, org) : asUser(user)
  }
  const [, kind, rest] = /^(org|user):(.+)$/.exec(ref) ?? []
  if (kind === 'org') return asOrg(reader, await findOrg(reader, rest!))
  if (kind === 'user' || ref.includes('@')) {
    const user = await exactUser(reader, rest ?? ref)
    if (!user) throw ownerErrors.ownerNotFound(rest ?? ref)
    return asUser(user)
  }
  const user = UserId.is(ref) ? await rows.user(reader, ref) : undefined
  if (user) return asUser(user)
  const org = await findOrg(reader, ref).catch(nullIfMissing)
  if (org) return asOrg(reader, org)
  const byPrefix = await userByIdPrefix(reader, ref)
  if (byPrefix) return asUser(byPrefix)
  throw ownerErrors.ownerNotFound(ref)
}

/**
 * Finds the owner whose rows an operator reads. Throws 404. Throws 400 without a reference, unless the server has only
 * one account.
 */
export async function ownerToRead(reader: Reader, ref: string | undefined): Promise<Owner> {
  if (ref === undefined && (await rows.hasSeveralUsers(reader))) {
    throw invalidInput(
      'owner',
      'This server has several accounts. Name one by id, slug or e-mail address; svc-admin orgs list and users list show them.',
    )
  }
  return findOwner(reader, ref)
}

async function asOrg(reader: Reader, { id, name }: OrgRow): Promise<Owner> {
  const userId = (await rows.ownerOf(reader, id)) ?? null
  return { scope: `org:${id}`, name, userId, orgId: id }
}

const asUser = ({ id, name, email }: UserRow): Owner => ({
  scope: `user:${id}`,
  name: name ?? email,
  userId: id,
  orgId: null,
})

/** If no org matches, the reference may name a user. An ambiguous name still throws. */
function nullIfMissing(error: unknown): null {
  if ((error as { kind?: unknown }).kind === 'missing') return null
  throw error
}
