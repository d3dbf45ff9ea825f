import type { OpsClient } from '../../src/app/client'
import { type Command, defineCommand } from '../command'
import { expectData, usageFailure } from '../failure'
import { PLATFORM_ROLES } from '../org-words'
import { column, idColumn } from '../output/columns'
import { type PageQuery, pageFlags, printPages } from '../pages'
import { prepareSecret, SECRET_FLAGS } from '../secret'
import { readSecretInput } from '../secret-input'
import type { Shell } from '../shell'
import { argument, choice, flag, optional, text } from '../words'
import { step } from './orgs'
import { userLink, userPassword } from './users-ways'

const columnsUsersSessions = [
  column('id', 'SESSION'),
  column('user_id', 'USER', { wide: true }),
  column('created', 'OPENED', { kind: 'time' }),
  column('last_seen_at', 'LAST SEEN', { kind: 'time' }),
  column('expires_at', 'EXPIRES', { kind: 'time' }),
]

const userSessions = defineCommand({
  path: 'users sessions',
  summary: 'List or end the open sessions of an account',
  about:
    'users sessions list USER shows the sessions, last used first. users sessions end USER SESSION signs one out, and end USER all signs out every one. API keys still work; users disable stops those too.',
  examples: ['users sessions list ada@example.com', 'users sessions end ada@example.com all --yes'],
  apis: ['operator'],
  impact: 'write',
  danger: 'moderate',
  exits: [3],
  columns: columnsUsersSessions,
  args: {
    verb: argument('list or end'),
    user: argument('account by id or e-mail address'),
    session: optional('with end: the id of a session, or all'),
  },
  async run(shell, { verb, user, session }) {
    if (verb === 'list') return list(shell, await usersUsersSessions(shell, user))
    if (verb !== 'end') throw usageFailure(`VERB is "${verb}"; it must be list or end.`)
    if (!session) throw usageFailure('users sessions end needs a session.', 'write its id, or all')
    const title = session === 'all' ? `every session of ${user}` : `session ${session} of ${user}`
    if (shell.planned(`end ${title}`)) return
    shell.confirm(`End ${title}?`)
    const { ended } = expectData(
      await (await usersUsersSessions(shell, user))()
        .sessions({ session: step(session) })
        .delete(),
    )
    shell.print.item({ ended }, [column('ended', 'ENDED', { kind: 'number' })])
  },
})

type OneUser = ReturnType<OpsClient['users']>

const columns = [
  idColumn,
  column('email', 'E-MAIL'),
  column('name', 'NAME'),
  column('platform_role', 'PLATFORM ROLE'),
  column('disabled_at', 'DISABLED', { kind: 'time' }),
  column('created', 'CREATED', { kind: 'time' }),
]

const detailColumns = [
  ...columns,
  column('active_org_id', 'ACTIVE ORG'),
  column('orgs', 'ORGS', {
    show: ({ orgs }) =>
      (orgs as { slug: string; role: string }[]).map(({ slug, role }) => `${slug} (${role})`).join(', '),
  }),
  column('session_count', 'SESSIONS', { kind: 'number' }),
]

const FIRST_LINK = {
  shown: 'It works once, within one day.',
  put: 'It works once, within one day, and cannot be shown again.',
}

const USER = 'account by id, 6 or more characters of it, or e-mail address'

const listUsers = defineCommand({
  path: 'users list',
  summary: 'List the accounts of this server, newest first',
  about: 'People use accounts to sign in, to belong to organizations and to own personal keys.',
  examples: ['users list', 'users list --all -o id'],
  apis: ['operator'],
  impact: 'read',
  columns,
  watchable: true,
  flags: pageFlags,
  async run(shell, paging) {
    const ops = (await shell.connect()).ops
    const page = async (query: PageQuery) => {
      const found = expectData(await ops().users.get({ query }))
      return { items: found.users, next: found.next_cursor }
    }
    await printPages(shell, paging, { page, columns, empty: 'No accounts. Create one: svc-admin users create EMAIL' })
  },
})

const getUser = defineCommand({
  path: 'users get',
  summary: 'Show one account with its organizations and open sessions',
  about: 'The server stores only hashes of passwords and never shows them.',
  examples: ['users get ada@example.com', 'users get ada@example.com --json'],
  apis: ['operator'],
  impact: 'read',
  exits: [3],
  columns: detailColumns,
  watchable: true,
  args: { user: argument(USER) },
  async run(shell, { user }) {
    const { users } = (await shell.connect()).ops()
    shell.print.item(expectData(await users({ ref: step(user) }).get()), detailColumns)
  },
})

const createUser = defineCommand({
  path: 'users create',
  summary: 'Create an account and show its first password once',
  about:
    'Works even if sign-up is closed. Creates a first password and shows it once, for you to pass on. With --from-file it reads the password from a file, or from stdin with -, and does not show it. With --link there is no password yet. The person who opens the link, once and within one day, chooses one. A platform role lets the account decide on submissions and limits.',
  examples: [
    'users create ada@example.com --name Ada',
    'users create ada@example.com --link',
    'users create rev@example.com --role reviewer --from-file pw.txt',
  ],
  apis: ['operator'],
  impact: 'write',
  danger: 'secret once',
  exits: [5],
  columns,
  args: { email: argument('the e-mail address to sign in with') },
  flags: {
    name: text('NAME', 'name of the person'),
    role: choice(PLATFORM_ROLES, 'a role for the whole server'),
    fromFile: text('FILE', 'a file that contains the password; - reads stdin'),
    link: flag('create a one-time sign-in link instead of a password'),
    ...SECRET_FLAGS,
  },
  async run(shell, { email, name, role, fromFile, link, ...methods }) {
    if (link && fromFile !== undefined) throw usageFailure('--link and --from-file exclude each other. Leave one out.')
    if (shell.planned(`create account ${email}`)) return
    const input = { email, ...(name ? { name } : {}), ...(role ? { platform_role: role } : {}) }
    if (fromFile !== undefined) {
      const password = await readSecretInput(shell, { label: 'password', fromFile, instead: 'leave out --from-file' })
      const {
        password: _none,
        sign_in_link: _neither,
        ...made
      } = expectData(await (await shell.connect()).ops().users.post({ ...input, password }))
      shell.print.item(made, columns)
      return
    }
    const field = link ? 'sign_in_link' : 'password'
    const outlet = prepareSecret(shell, field, methods, link ? FIRST_LINK : undefined)
    try {
      const { password, sign_in_link, ...made } = expectData(
        await (await shell.connect()).ops().users.post({ ...input, ...(link ? { link } : {}) }),
      )
      outlet.deliver({ ...made, [field]: link ? sign_in_link : password }, columns)
    } catch (error) {
      outlet.abandon()
      throw error
    }
  },
})

const disableUser = defineCommand({
  path: 'users disable',
  summary: 'Disable an account; its sessions and keys stop at once',
  about:
    'Nothing is deleted. users enable enables the account again, with the same keys. Its owner must sign in again.',
  examples: ['users disable eve@example.com', 'users disable eve@example.com --yes --reason "left"'],
  apis: ['operator'],
  impact: 'write',
  danger: 'moderate',
  exits: [3],
  columns,
  args: { user: argument(USER) },
  async run(shell, { user }) {
    if (shell.planned(`disable account ${user}`)) return
    shell.confirm(`Disable account ${user}? Its sessions and keys stop at once.`)
    await setDisabled(shell, user, true)
    shell.note(`undo: svc-admin users enable ${user}`)
  },
})

const enableUser = defineCommand({
  path: 'users enable',
  summary: 'Enable a disabled account again',
  about: 'Its keys work again with the next request. Nothing happens to an account that is not disabled.',
  examples: ['users enable eve@example.com', 'users enable eve@example.com --json'],
  apis: ['operator'],
  impact: 'write',
  exits: [3],
  columns,
  args: { user: argument(USER) },
  async run(shell, { user }) {
    if (shell.planned(`enable account ${user}`)) return
    await setDisabled(shell, user, false)
    shell.note(`undo: svc-admin users disable ${user}`)
  },
})

async function setDisabled(shell: Shell, user: string, disabled: boolean): Promise<void> {
  const { users } = (await shell.connect()).ops()
  shell.print.item(expectData(await users({ ref: step(user) }).patch({ disabled })), columns)
}

export const userCommands: Command[] = [
  listUsers,
  getUser,
  createUser,
  disableUser,
  enableUser,
  userLink,
  userPassword,
  userSessions,
]

/** Returns a function instead of the client: a client answers to `then`, so awaiting it never resolves. */
async function usersUsersSessions(shell: Shell, user: string): Promise<() => OneUser> {
  const connection = await shell.connect()
  return () => connection.ops().users({ ref: step(user) })
}

async function list(shell: Shell, one: () => OneUser): Promise<void> {
  const { sessions } = expectData(await one().sessions.get())
  shell.print.list(sessions, columnsUsersSessions, 'No open sessions.')
}
