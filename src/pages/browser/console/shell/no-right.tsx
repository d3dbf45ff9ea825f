import type { Member } from '../../../../accounts/orgs/schema'
import type { OperatorRole } from '../../../../kernel/caller'
import { useGet, useOwner } from './api'

/** Says that the reader's role cannot do something, and who can: for an organization, with names. */
export function NoRight({ what = 'do this', role }: { what?: string; role?: OperatorRole | undefined }) {
  const owner = useOwner()
  const isNamed = role === undefined && owner.looksAt === undefined && owner.id !== null
  const { data } = useGet<{ members: Member[] }>(`/orgs/${owner.id}/members`, {}, { off: !isNamed })
  const able = data?.members.filter((member) => member.role === 'owner' || member.role === 'admin') ?? []
  const names = able.slice(0, 3).map(({ name, email }) => name ?? email)
  const roles = role === 'admin' ? role : `${role} or admin`
  return (
    <p className="faint above-part">
      Your role {owner.role} cannot {what}. Ask {role ? `operators with the role ${roles}` : 'an owner or admin'}
      {names.length > 0 && `: ${names.join(', ')}${able.length > names.length ? ' or others' : ''}`}.
    </p>
  )
}

/** What the button of a form for a new row does, as the rest of a sentence: `create keys`. */
export function manyOf(label: string): string {
  const text = label.replace(/^New /, 'Create ').toLowerCase()
  return /^\w+$| (an?|up|now)\b/.test(text) ? text : `${text.replace(/([^aeiou])y$/, '$1ie').replace(/s$/, 'se')}s`
}
