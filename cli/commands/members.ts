import { type Command, defineCommand } from '../command'
import { expectData, usageFailure } from '../failure'
import { formatOf } from '../globals'
import { PERMISSIONS, ROLES } from '../org-words'
import { column } from '../output/columns'
import { prepareSecret, SECRET_FLAGS } from '../secret'
import type { Shell } from '../shell'
import { argument, choice, flag } from '../words'
import { step } from './orgs'

const columns = [
  column('user_id', 'USER', { show: ({ user_id }, whole) => String(user_id).slice(0, whole ? 36 : 8) }),
  column('name', 'NAME'),
  column('email', 'E-MAIL'),
  column('role', 'ROLE'),
  column('joined_at', 'JOINED', { kind: 'time' }),
]

const invitationColumns = [
  column('id', 'INVITATION'),
  column('org_id', 'ORG', { wide: true }),
  column('email', 'E-MAIL'),
  column('role', 'ROLE'),
  column('status', 'STATUS'),
  column('expires_at', 'EXPIRES', { kind: 'time' }),
]

const matrixColumns = [
  column('role', 'ROLE'),
  ...PERMISSIONS.map((permission) =>
    column(permission.toLowerCase(), permission, {
      show: ({ permissions }) => ((permissions as string[]).includes(permission) ? 'yes' : '-'),
    }),
  ),
]

const USER = 'account by id, 6 or more characters of it, or e-mail address'

/** The org of `--org`, which all of these commands need. */
function orgOf({ globals }: Shell, command: string): string {
  if (globals.org) return step(globals.org)
  throw usageFailure(`${command} needs an organization.`, 'add --org SLUG')
}

const listMembers = defineCommand({
  path: 'members list',
  summary: 'List the members of an organization and their roles',
  about: 'Lists the oldest member first. With --permissions it prints what each role can do, without asking a server.',
  examples: ['members list --org acme', 'members list --permissions'],
  apis: ['operator'],
  impact: 'read',
  exits: [3, 5],
  columns,
  watchable: true,
  flags: { permissions: flag('show what each role can do') },
  async run(shell, { permissions }) {
    if (permissions) {
      printMatrix(shell)
      return
    }
    const ref = orgOf(shell, 'members list')
    const { members } = expectData(await (await shell.connect()).ops().orgs({ ref }).members.get())
    shell.print.list(members, columns, 'It has no members.')
  },
})

/** For people one permission a line, since so many names do not fit beside each other; for programs one role a record. */
function printMatrix({ print, globals }: Shell): void {
  const matrix = permissionMatrix()
  if (!['table', 'wide'].includes(formatOf(globals)) || globals.fields) {
    print.list(matrix, matrixColumns, '')
    return
  }
  const rows = PERMISSIONS.map((permission) => ({
    permission,
    may: matrix.filter(({ permissions }) => permissions.includes(permission)).map(({ role }) => role),
  }))
  const roles = ROLES.map((role) =>
    column(role, role.toUpperCase(), { show: ({ may }) => ((may as string[]).includes(role) ? 'yes' : '-') }),
  )
  print.list(rows, [column('permission', 'PERMISSION'), ...roles], '')
}

/** A copy of the server's rule; a test compares the two. */
export const permissionMatrix = () =>
  ROLES.map((role) => ({
    role,
    permissions: PERMISSIONS.filter((permission) => {
      if (role === 'owner' || role === 'admin' || permission === 'viewUsage') return true
      return role === 'member' && permission === 'manageSkills'
    }),
  }))

const addMember = defineCommand({
  path: 'members add',
  summary: 'Add an account to an organization, or invite an address',
  about:
    'An account of this server joins at once. --invite creates an invitation for the address instead, which works once within seven days. Its token is shown once, for you to pass on. An account with that address accepts it with POST /invitations/TOKEN/accept. A new invitation replaces the earlier one.',
  examples: ['members add ada@example.com --org acme --role admin', 'members add eve@example.com --org acme --invite'],
  apis: ['operator'],
  impact: 'write',
  danger: 'secret once',
  exits: [3, 5],
  columns,
  args: { user: argument(`${USER}; with --invite any e-mail address`) },
  flags: {
    role: choice(ROLES, 'their role; member by default'),
    invite: flag('invite the address; for people without an account'),
    ...SECRET_FLAGS,
  },
  async run(shell, { user, role = 'member', invite, ...methods }) {
    const ref = orgOf(shell, 'members add')
    if (shell.planned(`${invite ? 'invite' : 'add'} ${user} as ${role}`)) return
    if (!invite) {
      const { members } = (await shell.connect()).ops().orgs({ ref })
      shell.print.item(expectData(await members.post({ user, role })), columns)
      return
    }
    const outlet = prepareSecret(shell, 'token', methods)
    try {
      const { invitations } = (await shell.connect()).ops().orgs({ ref })
      outlet.deliver(expectData(await invitations.post({ email: user, role })), invitationColumns)
    } catch (error) {
      outlet.abandon()
      throw error
    }
  },
})

const updateMember = defineCommand({
  path: 'members update',
  summary: 'Change the role of a member',
  about: 'The last owner stays an owner. Make another member an owner first.',
  examples: [
    'members update ada@example.com --org acme --role owner -y',
    'members update eve@example.com --org acme --role viewer --yes --json',
  ],
  apis: ['operator'],
  impact: 'write',
  danger: 'moderate',
  exits: [3, 5],
  columns,
  args: { user: argument(USER) },
  flags: { role: choice(ROLES, 'the new role') },
  async run(shell, { user, role }) {
    const ref = orgOf(shell, 'members update')
    if (!role) throw usageFailure('members update needs --role.', `add --role ${ROLES.join('|')}`)
    if (shell.planned(`make ${user} ${role}`)) return
    shell.confirm(`Make ${user} ${role} of ${shell.globals.org}?`)
    const { members } = (await shell.connect()).ops().orgs({ ref })
    shell.print.item(expectData(await members({ user: step(user) }).patch({ role })), columns)
  },
})

const removeMember = defineCommand({
  path: 'members remove',
  summary: 'Remove a member from an organization',
  about:
    'They lose access at once, and the keys they created for the organization are revoked. The last owner cannot be removed.',
  examples: [
    'members remove eve@example.com --org acme',
    'members remove eve@example.com --org acme --yes --reason "left"',
  ],
  apis: ['operator'],
  impact: 'write',
  danger: 'moderate',
  exits: [3, 5],
  columns,
  args: { user: argument(USER) },
  async run(shell, { user }) {
    const ref = orgOf(shell, 'members remove')
    if (shell.planned(`remove ${user} from ${shell.globals.org}`)) return
    shell.confirm(`Remove ${user} from ${shell.globals.org}? The keys they created for it will be revoked.`)
    const { members } = (await shell.connect()).ops().orgs({ ref })
    expectData(await members({ user: step(user) }).delete())
    shell.print.item({ user_id: user, deleted: true }, [column('user_id', 'USER'), column('deleted', 'REMOVED')])
    shell.note(`undo: svc-admin members add ${user} --org ${shell.globals.org} (revoked keys stay revoked)`)
  },
})

export const memberCommands: Command[] = [listMembers, addMember, updateMember, removeMember]
