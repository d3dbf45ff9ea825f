import type { Role } from '../../../src/accounts/orgs/schema'
import type { OrgId } from '../../../src/kernel/ids'
import { operatorCall, type Person, type World } from '../../support/world'

export type Team = Awaited<ReturnType<typeof createTeam>>

/** An org with someone in each role and someone who has nothing to do with it; each asks with a personal key. */
export async function createTeam(world: World, name = 'Acme') {
  const { orgs, keys, store } = world.app.container
  const [owner, outsider] = [await world.person(), await world.person()]
  const { body: org } = await owner.send('POST', 'orgs', { name })
  const id = org.id as OrgId

  /** Lets someone in, as an operator would. */
  async function join(role: Role, person?: Person): Promise<Person> {
    const joining = person ?? (await world.person())
    await store.write((tx) =>
      orgs.members.join(tx, operatorCall(), { orgId: id, userId: joining.userId, role, invitedBy: null }),
    )
    return joining
  }

  /** A key of the org that someone made. */
  async function orgKey(person: Person) {
    const made = await store.write((tx) =>
      keys.createIn(tx, operatorCall(), { userId: person.userId, orgId: id, tier: 'enterprise' }),
    )
    return { id: made.id as string, ...world.byKey(made.key) }
  }

  const people = { owner, admin: await join('admin'), member: await join('member'), viewer: await join('viewer') }
  return { id, slug: org.slug as string, ...people, outsider, join, orgKey }
}

/** An invitation for someone's address, and its token, as an operator would hand it over. */
export function issueInvitation(world: World, orgId: OrgId, email: string, role: Role = 'member') {
  const { orgs, store } = world.app.container
  return store.write(async (tx) => {
    await orgs.lock(tx, orgId)
    return orgs.invitations.issue(tx, operatorCall(), { orgId, email, role, invitedBy: null })
  })
}

export const emailOf = async (world: World, { userId }: Person): Promise<string> =>
  (await world.app.container.orgs.user(world.app.store.read, userId))!.email

/** Who of the team has which role, by user id. */
export async function rolesOf(person: Person, orgId: string): Promise<Record<string, Role>> {
  const { body } = await person.send('GET', `orgs/${orgId}/members`)
  return Object.fromEntries(body.members.map(({ user_id, role }: { user_id: string; role: Role }) => [user_id, role]))
}
