import type { OwnerScope } from '../kernel/caller'
import { OrgId, UserId } from '../kernel/ids'
import type { Reader } from '../kernel/store'
import type { OrgService } from '../orgs'
import type { Holder } from '../takeovers'
import { noSuchPerson } from './errors'
import { publicName } from './names'

type Deps = { orgs: Pick<OrgService, 'user' | 'userByEmail' | 'members'> }

/** Who may answer in a widget's chats: its team, or the one person whose it is. */
export function createPeople({ orgs }: Deps) {
  /** By e-mail address or id. Throws 404 for whoever is not one of them, or has no account that works. */
  return async function personOf(reader: Reader, owner: OwnerScope, ref: string): Promise<Holder> {
    const user = UserId.is(ref) ? await orgs.user(reader, ref) : await orgs.userByEmail(reader, ref)
    if (!user || user.disabled_at !== null || !(await isOneOf(reader, owner, user.id))) throw noSuchPerson()
    return { id: user.id, name: publicName(user.name) }
  }

  async function isOneOf(reader: Reader, owner: OwnerScope, userId: UserId): Promise<boolean> {
    if (owner === `user:${userId}`) return true
    const orgId = owner.startsWith('org:') ? owner.slice('org:'.length) : ''
    if (!OrgId.is(orgId)) return false
    return (await orgs.members.all(reader, orgId)).some(({ user_id }) => user_id === userId)
  }
}
