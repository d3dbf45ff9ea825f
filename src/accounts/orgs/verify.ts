import { and, eq, isNotNull, isNull, notExists, or } from 'drizzle-orm'
import type { Reader } from '../../kernel/store'
import { members, orgs, users } from './table'

const MAX_NAMED = 20

/** Consistency check: an org has an owner until it is deleted, and no members afterwards (contract 18.4). */
export async function verifyOrgs(reader: Reader): Promise<string[]> {
  const [ownerless, strays] = await Promise.all([ownerlessOrgs(reader), strayMembers(reader)])
  return [
    ...ownerless.map(({ id }) => `organization ${id} has no owner`),
    ...strays.map(({ org_id, user_id }) => `user ${user_id} belongs to organization ${org_id}, which does not exist`),
  ]
}

function ownerlessOrgs(reader: Reader) {
  const [org, member] = [reader.of(orgs), reader.of(members)]
  const owner = reader
    .select({ id: member.user_id })
    .from(member)
    .where(and(eq(member.org_id, org.id), eq(member.role, 'owner')))
  return reader
    .select({ id: org.id })
    .from(org)
    .where(and(isNull(org.deleted_at), notExists(owner)))
    .limit(MAX_NAMED)
}

function strayMembers(reader: Reader) {
  const [org, member, user] = [reader.of(orgs), reader.of(members), reader.of(users)]
  return reader
    .select({ org_id: member.org_id, user_id: member.user_id })
    .from(member)
    .leftJoin(org, eq(org.id, member.org_id))
    .leftJoin(user, eq(user.id, member.user_id))
    .where(or(isNull(org.id), isNotNull(org.deleted_at), isNull(user.id)))
    .limit(MAX_NAMED)
}
