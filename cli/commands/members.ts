import { type Command, column, columnsOf, commandsOf } from '../command'
import { expectData, usageFailure } from '../failure'
import { formatOf } from '../globals'
import { PERMISSIONS, ROLES } from '../org-words'
import { rowArgument } from '../resource'
import type { Shell } from '../shell'
import { argument, choice, flag, needed } from '../words'

const columns = columnsOf`
  user_id USER ${({ user_id }, whole) => String(user_id).slice(0, whole ? 36 : 8)}, name NAME, email E-MAIL,
  role ROLE, joined_at JOINED time, last_seen_at LAST SEEN time, active_keys KEYS number`

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

/** The value of `--org`, which all of these commands require. */
function orgOf({ globals }: Shell, command: string): string {
  if (globals.org) return globals.org
  throw usageFailure(`${command} needs an organization.`, 'add --org SLUG')
}

const args = {
  user: argument(USER),
  invitation: rowArgument('invitation', async (shell) => {
    const ref = orgOf(shell, 'members invitations')
    return expectData(await (await shell.connect()).ops().orgs({ ref }).invitations.get()).invitations
  }),
}
const command = commandsOf('members', { apis: ['operator'], columns, args })

/** Finds the organization of a change before it is described. */
const ofOrg = (verb: string) => ({
  find: async (shell: Shell) => ({ org: shell.globals.org, ref: orgOf(shell, `members ${verb}`) }),
})

export const memberCommands: Command[] = [
  command`list (watchable, exits 3 5): List the members of an organization and their roles
  Lists the oldest member first. With --permissions it prints what each role can do, without asking a server.
  $ members list --org acme
  $ members list --permissions`({
    flags: { permissions: flag('show what each role can do') },
    async run(shell, { permissions }) {
      if (permissions) return printMatrix(shell)
      const ref = orgOf(shell, 'members list')
      const { members } = expectData(await (await shell.connect()).ops().orgs({ ref }).members.get())
      shell.print.list(members, columns, 'It has no members.')
    },
  }),
  command`add (secret once): Add an account to an organization, or invite an address
  An account of this server joins at once. --invite creates an invitation for the address instead, which works once within seven days. Its token is shown once, for you to pass on. An account with that address accepts it with POST /invitations/TOKEN/accept. A new invitation replaces the earlier one.
  $ members add ada@example.com --org acme --role admin
  $ members add eve@example.com --org acme --invite`({
    args: { user: argument(`${USER}; with --invite any e-mail address`) },
    flags: {
      role: choice(ROLES, 'their role; member by default'),
      invite: flag('invite the address; for people without an account'),
    },
    ...ofOrg('add'),
    action: ({ user, role = 'member', invite }) => `${invite ? 'invite' : 'add'} ${user} as ${role}`,
    secret: ({ invite }) => (invite ? 'token' : null),
    secretColumns: invitationColumns,
    async answer({ ops }, { user, role = 'member', invite, ref }): Promise<object> {
      const { invitations, members } = ops.orgs({ ref })
      return expectData<object>(
        invite ? await invitations.post({ email: user, role }) : await members.post({ user, role }),
      )
    },
  }),
  command`update USER (moderate): Change the role of a member
  The last owner stays an owner. Make another member an owner first.
  $ members update ada@example.com --org acme --role owner -y
  $ members update eve@example.com --org acme --role viewer --yes --json`({
    flags: { role: needed(choice(ROLES, 'the new role'), `add --role ${ROLES.join('|')}`) },
    ...ofOrg('update'),
    action: ({ user, role }) => `make ${user} ${role}`,
    question: ({ user, role, org }) => `Make ${user} ${role} of ${org}?`,
    request: ({ ops }, { user, role, ref }) => ops.orgs({ ref }).members({ user }).patch({ role }),
  }),
  command`remove USER (moderate): Remove a member from an organization
  They lose access at once, and the keys they created for the organization are revoked. The last owner cannot be removed.
  $ members remove eve@example.com --org acme
  $ members remove eve@example.com --org acme --yes --reason "left"`({
    columns: columnsOf`user_id USER, deleted REMOVED`,
    ...ofOrg('remove'),
    action: ({ user, org }) => `remove ${user} from ${org}`,
    question: ' The keys they created for it will be revoked.',
    request: ({ ops }, { user, ref }) => ops.orgs({ ref }).members({ user }).delete(),
    shown: (_, { user }) => ({ user_id: user, deleted: true }),
    note: (_, { user, org }) => `undo: svc-admin members add ${user} --org ${org} (revoked keys stay revoked)`,
  }),
  command`invitations (shows invitations): List the open and expired invitations of an organization
  Newest first. An accepted invitation is a member, and is in members list.
  $ members invitations --org acme`({
    ...ofOrg('invitations'),
    request: ({ ops }, { ref }) => ops.orgs({ ref }).invitations.get(),
    empty: 'No invitations.',
  }),
  command`resend INVITATION (secret once): Send an invitation again
  The earlier link stops working. Without a mail server the new link is shown once, for you to pass on.
  $ members resend ID --org acme`({
    ...ofOrg('resend'),
    action: ({ invitation }) => `send the invitation ${invitation} again`,
    async run(shell, { invitation, ref }) {
      const { invitations } = (await shell.connect()).ops().orgs({ ref })
      const { invitation: sent, url } = expectData(await invitations({ invitation }).resend.post({}))
      const shown = [...invitationColumns, ...(url ? [column('url', 'URL')] : [])]
      shell.print.item({ ...sent, ...(url ? { url } : {}) }, shown)
    },
  }),
  command`withdraw INVITATION (moderate): Withdraw an invitation
  Its token stops working at once.
  $ members withdraw ID --org acme
  $ members withdraw ID --org acme --yes --json`({
    columns: columnsOf`id INVITATION, deleted WITHDRAWN`,
    ...ofOrg('withdraw'),
    action: ({ invitation }) => `withdraw the invitation ${invitation}`,
    request: ({ ops }, { invitation, ref }) => ops.orgs({ ref }).invitations({ invitation }).delete(),
    shown: (_, { invitation }) => ({ id: invitation, deleted: true }),
  }),
]

/** Prints one permission per line for people, because names do not fit in columns. Programs get one role per record. */
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

/** A copy of the server's rule. A test compares the two. */
export const permissionMatrix = () =>
  ROLES.map((role) => ({
    role,
    permissions: PERMISSIONS.filter((permission) => {
      if (role === 'owner' || role === 'admin' || permission === 'viewUsage') return true
      return role === 'member' && permission === 'manageSkills'
    }),
  }))
