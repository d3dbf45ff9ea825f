import { type Command, commandsOf } from '../command'
import { expectData, usageFailure } from '../failure'
import { formatOf } from '../globals'
import { PERMISSIONS, ROLES } from '../org-words'
import { column, columnsOf } from '../output/columns'
import { deliverSecret, SECRET_FLAGS } from '../secret'
import type { Shell } from '../shell'
import { argument, choice, flag } from '../words'
import { step } from './orgs'

const columns = columnsOf`
  user_id USER ${({ user_id }, whole) => String(user_id).slice(0, whole ? 36 : 8)}, name NAME, email E-MAIL,
  role ROLE, joined_at JOINED time`

const invitationColumns = columnsOf`
  id INVITATION, org_id ORG wide, email E-MAIL, role ROLE, status STATUS, expires_at EXPIRES time`

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

const command = commandsOf('members', { apis: ['operator'], columns })

const listMembers = command('list', {
  summary: 'List the members of an organization and their roles',
  about: 'Lists the oldest member first. With --permissions it prints what each role can do, without asking a server.',
  examples: ['members list --org acme', 'members list --permissions'],
  exits: [3, 5],
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

const addMember = command('add', {
  summary: 'Add an account to an organization, or invite an address',
  about:
    'An account of this server joins at once. --invite creates an invitation for the address instead, which works once within seven days. Its token is shown once, for you to pass on. An account with that address accepts it with POST /invitations/TOKEN/accept. A new invitation replaces the earlier one.',
  examples: ['members add ada@example.com --org acme --role admin', 'members add eve@example.com --org acme --invite'],
  impact: 'write',
  danger: 'secret once',
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
    await deliverSecret(shell, { field: 'token', methods, columns: invitationColumns }, async () => {
      const { invitations } = (await shell.connect()).ops().orgs({ ref })
      return expectData(await invitations.post({ email: user, role }))
    })
  },
})

const listInvitations = command('invitations', {
  summary: 'List the open and expired invitations of an organization',
  about: 'Newest first. An accepted invitation is a member, and is in members list.',
  examples: ['members invitations --org acme', 'members invitations --org acme --json'],
  impact: 'read',
  async run(shell) {
    const { invitations } = (await shell.connect()).ops().orgs({ ref: orgOf(shell, 'members invitations') })
    shell.print.list(expectData(await invitations.get()).invitations, invitationColumns, 'No invitations.')
  },
})

const INVITATION = 'id of the invitation, from members invitations'

const withdrawInvitation = command('withdraw', {
  summary: 'Withdraw an invitation',
  about: 'Its token stops working at once.',
  examples: ['members withdraw ID --org acme', 'members withdraw ID --org acme --yes --json'],
  impact: 'write',
  danger: 'moderate',
  args: { invitation: argument(INVITATION) },
  async run(shell, { invitation }) {
    const ref = orgOf(shell, 'members withdraw')
    if (shell.planned(`withdraw the invitation ${invitation}`)) return
    shell.confirm(`Withdraw the invitation ${invitation}?`)
    const { invitations } = (await shell.connect()).ops().orgs({ ref })
    expectData(await invitations({ invitation }).delete())
    shell.print.item({ id: invitation, deleted: true }, columnsOf`id INVITATION, deleted WITHDRAWN`)
  },
})

const resendInvitation = command('resend', {
  summary: 'Send an invitation again',
  about: 'The earlier link stops working. Without a mail server the new link is shown once, for you to pass on.',
  examples: ['members resend ID --org acme', 'members resend ID --org acme --json'],
  impact: 'write',
  danger: 'secret once',
  args: { invitation: argument(INVITATION) },
  async run(shell, { invitation }) {
    const ref = orgOf(shell, 'members resend')
    if (shell.planned(`send the invitation ${invitation} again`)) return
    const { invitations } = (await shell.connect()).ops().orgs({ ref })
    const { invitation: sent, url } = expectData(await invitations({ invitation }).resend.post({}))
    shell.print.item(
      url ? { ...sent, url } : sent,
      url ? [...invitationColumns, column('url', 'URL')] : invitationColumns,
    )
  },
})

const updateMember = command('update', {
  summary: 'Change the role of a member',
  about: 'The last owner stays an owner. Make another member an owner first.',
  examples: [
    'members update ada@example.com --org acme --role owner -y',
    'members update eve@example.com --org acme --role viewer --yes --json',
  ],
  impact: 'write',
  danger: 'moderate',
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

const removeMember = command('remove', {
  summary: 'Remove a member from an organization',
  about:
    'They lose access at once, and the keys they created for the organization are revoked. The last owner cannot be removed.',
  examples: [
    'members remove eve@example.com --org acme',
    'members remove eve@example.com --org acme --yes --reason "left"',
  ],
  impact: 'write',
  danger: 'moderate',
  args: { user: argument(USER) },
  async run(shell, { user }) {
    const ref = orgOf(shell, 'members remove')
    if (shell.planned(`remove ${user} from ${shell.globals.org}`)) return
    shell.confirm(`Remove ${user} from ${shell.globals.org}? The keys they created for it will be revoked.`)
    const { members } = (await shell.connect()).ops().orgs({ ref })
    expectData(await members({ user: step(user) }).delete())
    shell.print.item({ user_id: user, deleted: true }, columnsOf`user_id USER, deleted REMOVED`)
    shell.note(`undo: svc-admin members add ${user} --org ${shell.globals.org} (revoked keys stay revoked)`)
  },
})

export const memberCommands: Command[] = [
  ...[listMembers, addMember, updateMember, removeMember],
  ...[listInvitations, resendInvitation, withdrawInvitation],
]
