import type { OpsClient } from '../../src/app/client'
import { OPERATOR_ROLES as ROLES } from '../../src/kernel/caller'
import { type Command, columnsOf, commandsOf, defined } from '../command'
import { expectData, usageFailure } from '../failure'
import { PLATFORM_ROLES } from '../org-words'
import { idAmong } from '../resource'
import { LINK_FATE, readSecretInput } from '../secret'
import type { Shell } from '../shell'
import { argument, choice, duration, flag, oneOf, optional, text } from '../words'

const MINUTE_MS = 60_000

export const linkColumns = columnsOf`user PERSON, url LINK keep, expires_at UNTIL time`

type LinkInput = { ttl?: number | undefined; to?: string }

/** Creates a link that signs this person in once, within `ttl` milliseconds, and opens the page at `to`. */
export const linkOf = (ops: OpsClient, user: string, { ttl, to }: LinkInput) =>
  ops
    .users({ ref: user })
    ['console-link'].post({ ...(ttl !== undefined && { ttl_minutes: Math.ceil(ttl / MINUTE_MS) }), ...(to && { to }) })

const columns = columnsOf`
  id, email E-MAIL, name NAME, platform_role PLATFORM ROLE, operator_role OPERATOR, disabled_at DISABLED time, created CREATED time`

const args = { user: argument('account by id, 6 or more characters of it, or e-mail address') }
const command = commandsOf('users', { apis: ['operator'], columns, args })

const detailColumns = [
  ...columns,
  ...columnsOf`
    active_org_id ACTIVE ORG,
    orgs ORGS ${({ orgs }) => (orgs as { slug: string; role: string }[]).map(({ slug, role }) => `${slug} (${role})`).join(', ')},
    session_count SESSIONS number`,
]

const passwordFile = text('FILE', 'a file that contains the password; - reads stdin')

const passwordIn = async (shell: Shell, fromFile: string | undefined) =>
  fromFile === undefined
    ? undefined
    : readSecretInput(shell, { label: 'password', fromFile, instead: 'leave out --from-file' })

export const userCommands: Command[] = [
  command`list (exits, pages users): List the accounts of this server, newest first
  People use accounts to sign in, to belong to organizations and to own personal keys.
  $ users list
  $ users list --all -o id`({
    request: ({ ops, page }) => ops.users.get({ query: page }),
    empty: 'No accounts. Create one: svc-admin users create EMAIL',
  }),
  command`get USER: Show one account with its organizations and open sessions
  The server stores only hashes of passwords and never shows them.
  $ users get ada@example.com`({
    columns: detailColumns,
    request: ({ ops }, { user }) => ops.users({ ref: user }).get(),
  }),
  command`create (secret once, exits 5): Create an account and show its first password once
  Works even if sign-up is closed. Creates a first password and shows it once, for you to pass on. With --from-file it reads the password from a file, or from stdin with -, and does not show it. With --link there is no password yet. The person who opens the link, once and within one day, chooses one. A platform role lets the account decide on submissions and limits.
  $ users create ada@example.com --name Ada
  $ users create ada@example.com --link
  $ users create rev@example.com --role reviewer --from-file pw.txt`({
    args: { email: argument('the e-mail address to sign in with') },
    flags: {
      name: text('NAME', 'name of the person'),
      role: choice(PLATFORM_ROLES, 'a role for the whole server'),
      fromFile: passwordFile,
      link: flag('create a one-time sign-in link instead of a password'),
    },
    action({ email, link, fromFile }) {
      if (!link || fromFile === undefined) return `create account ${email}`
      throw usageFailure('--link and --from-file exclude each other. Leave one out.')
    },
    secret: ({ link, fromFile }) => (fromFile !== undefined ? null : link ? 'sign_in_link' : 'password'),
    fate({ link }) {
      const once = 'It works once, within one day'
      return link ? { shown: `${once}.`, put: `${once}, and cannot be shown again.` } : undefined
    },
    async request({ ops, shell }, { email, name, role, fromFile, link }) {
      const password = await passwordIn(shell, fromFile)
      const input = { email, name: name || undefined, platform_role: role, password, link: link || undefined }
      return ops.users.post(defined(input))
    },
    shown({ password, sign_in_link, ...made }, { link, fromFile }) {
      if (fromFile !== undefined) return made
      return link ? { ...made, sign_in_link } : { ...made, password }
    },
  }),
  command`disable USER (moderate, exits 3): Disable an account; its sessions and keys stop at once
  Nothing is deleted. users enable enables the account again, with the same keys. Its owner must sign in again.
  $ users disable eve@example.com
  $ users disable eve@example.com --yes --reason "left"`({
    action: ({ user }) => `disable account ${user}`,
    question: ' Its sessions and keys stop at once.',
    request: ({ ops }, { user }) => ops.users({ ref: user }).patch({ disabled: true }),
    note: (_, { user }) => `undo: svc-admin users enable ${user}`,
  }),
  command`enable USER (exits 3): Enable a disabled account again
  Its keys work again with the next request. Nothing happens to an account that is not disabled.
  $ users enable eve@example.com`({
    action: ({ user }) => `enable account ${user}`,
    request: ({ ops }, { user }) => ops.users({ ref: user }).patch({ disabled: false }),
    note: (_, { user }) => `undo: svc-admin users disable ${user}`,
  }),
  command`role USER (moderate, exits 3): Give an account a role as an operator in the console, or take it away
  The role holds with the next request of the account, also in open sessions. The roles admin and reviewer also decide on submissions and limits. With none the account is an ordinary one again.
  $ users role ada@example.com support --yes
  $ users role ada@example.com none --yes`({
    args: { role: oneOf([...ROLES, 'none'], `${ROLES.join(', ')} or none`) },
    action: ({ user, role }) => `set the operator role of ${user} to ${role}`,
    request: ({ ops }, { user, role }) =>
      ops.users({ ref: user }).patch({ operator_role: role === 'none' ? null : role }),
  }),
  command`link USER (secret once, delivers url): Create a one-time link that signs an account in and lets it set a password
  For a first sign-in, and for people who lost their password. The link works once, for 15 minutes by default and 24 hours at most. The account keeps its sessions and password until the person sets a new one.
  $ users link ada@example.com
  $ users link ada@example.com --ttl 4h --secret-to link.txt`({
    columns: linkColumns,
    flags: { ttl: duration('DURATION', 'how long the link works, 15m by default') },
    action: ({ user }) => `create a sign-in link for ${user}`,
    fate: LINK_FATE,
    request: ({ ops }, { user, ttl }) => linkOf(ops, user, { ttl }),
    shown: (made, { user }) => ({ user, ...made }),
  }),
  command`password USER (secret once, exits 3): Set a new password for an account and end its sessions
  Creates a new password and shows it once, for you to pass on. With --from-file it reads the password from a file, or from stdin with -, and does not show it. All sessions and sign-in links of the account end. Its API keys still work. If you should not know the password, use users link instead.
  $ users password ada@example.com --yes
  $ users password ada@example.com --from-file pw.txt --yes`({
    columns: columnsOf`email E-MAIL, ended SESSIONS ENDED number`,
    flags: { fromFile: passwordFile },
    action: ({ user }) => `set the password of ${user}`,
    question: ({ user }) => `Set a new password for ${user}? All its sessions end.`,
    secret: ({ fromFile }) => (fromFile === undefined ? 'password' : null),
    request: async ({ ops, shell }, { user, fromFile }) =>
      ops.users({ ref: user }).password.post(defined({ password: await passwordIn(shell, fromFile) })),
    shown: ({ password, ...set }, { fromFile }) => (fromFile === undefined ? { ...set, password } : set),
  }),
  command`sessions (moderate, exits 3): List or end the open sessions of an account
  users sessions list USER shows the sessions, last used first. users sessions end USER SESSION signs one out, and end USER all signs out every one. API keys still work; users disable stops those too.
  $ users sessions list ada@example.com
  $ users sessions end ada@example.com all --yes`({
    columns: columnsOf`
      id SESSION, user_id USER wide, created OPENED time, last_seen_at LAST SEEN time, expires_at EXPIRES time,
      ip ADDRESS, user_agent BROWSER wide`,
    args: {
      verb: oneOf(['list', 'end'], 'list or end'),
      ...args,
      session: {
        ...optional('with end: the id of a session, the start of it, or all'),
        idFor: idAmong(async (shell, { user }) => {
          const ops = (await shell.connect()).ops()
          return expectData(await ops.users({ ref: String(user) }).sessions.get()).sessions
        }, /^all$/),
      },
    },
    action({ verb, user, session }) {
      if (verb === 'list') return undefined
      if (!session) throw usageFailure('users sessions end needs a session.', 'write its id, or all')
      return session === 'all' ? `end every session of ${user}` : `end session ${session} of ${user}`
    },
    async answer({ ops, shell }, { verb, user, session }): Promise<object | undefined> {
      const { sessions } = ops.users({ ref: user })
      if (verb === 'list') return expectData(await sessions.get()).sessions
      const { ended } = expectData(await sessions({ session: session! }).delete())
      shell.print.item({ ended }, columnsOf`ended ENDED number`)
      return undefined
    },
    empty: 'No open sessions.',
  }),
]
