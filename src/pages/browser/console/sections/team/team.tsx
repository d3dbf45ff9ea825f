import type { Member } from '../../../../../accounts/orgs/schema'
import { useOwner } from '../../shell/api'
import { Page } from '../../shell/page'
import { defineScreen } from '../../shell/screen'
import { Time } from '../../ui/format'
import { Empty } from '../../ui/states'

const teamOf = (id: string) =>
  defineScreen<Member>({
    section: 'team',
    title: 'Team',
    list: { path: `/orgs/${id}/members`, rows: 'members' },
    idOf: ({ user_id }) => user_id,
    columns: [
      { key: 'name', head: 'Name', cell: ({ name, email }) => name ?? email, main: true },
      { key: 'email', head: 'E-mail', cell: ({ email }) => email, width: 'minmax(0, 1.5fr)' },
      { key: 'role', head: 'Role', cell: ({ role }) => role, main: true, width: '120px' },
      {
        key: 'joined',
        head: 'Joined',
        cell: ({ joined_at }) => <Time at={joined_at} only="day" />,
        main: true,
        width: '136px',
      },
    ],
    filters: [
      {
        name: 'role',
        label: 'Role',
        values: (['owner', 'admin', 'member', 'viewer'] as const).map((role) => [role, role] as const),
        match: ({ role }, wanted) => role === wanted,
      },
    ],
    empty: { text: 'Nobody is here.' },
  })

const teams = new Map<string, ReturnType<typeof teamOf>>()

/** Who is in the organization, and as what. */
export default function Team() {
  const { id } = useOwner()
  if (id === null) {
    return (
      <Page title="Team">
        <Empty text="A personal account has one member: you." command="svc-admin orgs create NAME --owner EMAIL" />
      </Page>
    )
  }
  if (!teams.has(id)) teams.set(id, teamOf(id))
  const Screen = teams.get(id)!
  return <Screen />
}
