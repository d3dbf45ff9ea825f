import type { OwnerScope } from '../../kernel/caller'
import { defineError } from '../../kernel/errors'
import { type OrgId, UserId } from '../../kernel/ids'
import type { Reader } from '../../kernel/store'
import type { OrgService } from './service'
import type { OrgRow, UserRow } from './table'

/** `userId` is the user who acts for the owner: an org's first owner, null once the org is deleted. */
export type Owner = { scope: OwnerScope; name: string; userId: UserId | null; orgId: OrgId | null }

const ownerNotFound = defineError(
  'missing',
  'not_found',
  (ref: string) => `No organization or user "${ref}". Name one by id, slug, e-mail address or exact name.`,
)

const noAccountYet = defineError(
  'missing',
  'not_found',
  () => 'This server has no account yet. Creating the first key creates one: svc-admin keys create --name NAME',
)

const orgWasDeleted = defineError(
  'conflict',
  'conflict',
  (name: string) =>
    `Organization "${name}" was deleted, so nothing can be created or paid for it. Its ledger, usage and audit events can still be read.`,
)

/** Throws 409 `conflict` for a deleted org: its ledger stays, but no user can act for it. */
export function actingUserOf({ userId, name }: Owner): UserId {
  if (!userId) throw orgWasDeleted(name)
  return userId
}

/** An owner as operators name it: org by id, slug or name, user by id or e-mail, start of an id (dx 2.1). Throws 404. */
export async function findOwner(orgs: OrgService, reader: Reader, ref: string | undefined): Promise<Owner> {
  if (ref === undefined) return firstOwner(orgs, reader)
  const [, kind, rest] = /^(org|user):(.+)$/.exec(ref) ?? []
  if (kind === 'user') return ofUser(orgs, reader, rest!)
  if (kind === 'org') return ofOrg(orgs, reader, await orgs.find(reader, rest!))
  if (ref.includes('@')) return ofUser(orgs, reader, ref)
  const user = UserId.is(ref) ? await orgs.user(reader, ref) : undefined
  if (user) return asUser(user)
  const org = await findOrg(orgs, reader, ref)
  if (org) return ofOrg(orgs, reader, org)
  const byPrefix = await orgs.userByIdPrefix(reader, ref)
  if (byPrefix) return asUser(byPrefix)
  throw ownerNotFound(ref)
}

/** Default without a name: the account the first run created, or that account's active org. */
async function firstOwner(orgs: OrgService, reader: Reader): Promise<Owner> {
  const user = await orgs.oldestUser(reader)
  if (!user) throw noAccountYet()
  const org = user.active_org_id ? await orgs.find(reader, user.active_org_id) : null
  return org ? ofOrg(orgs, reader, org) : asUser(user)
}

async function ofUser(orgs: OrgService, reader: Reader, ref: string): Promise<Owner> {
  const user = UserId.is(ref) ? await orgs.user(reader, ref) : await orgs.userByEmail(reader, ref)
  if (!user) throw ownerNotFound(ref)
  return asUser(user)
}

async function ofOrg(orgs: OrgService, reader: Reader, org: OrgRow): Promise<Owner> {
  const userId = (await orgs.ownerOf(reader, org.id)) ?? null
  return { scope: `org:${org.id}`, name: org.name, userId, orgId: org.id }
}

const asUser = (user: UserRow): Owner => ({
  scope: `user:${user.id}`,
  name: user.name ?? user.email,
  userId: user.id,
  orgId: null,
})

/** Null when there is no such org, because a user may be meant. An ambiguous name still throws. */
async function findOrg(orgs: OrgService, reader: Reader, ref: string): Promise<OrgRow | null> {
  try {
    return await orgs.find(reader, ref)
  } catch (error) {
    if ((error as { kind?: unknown }).kind === 'missing') return null
    throw error
  }
}
