import { defineCommand } from '../command'
import { expectData } from '../failure'
import { column } from '../output/columns'
import { LINK_FATE, type Methods, prepareSecret, SECRET_FLAGS } from '../secret'
import { readSecretInput } from '../secret-input'
import type { Shell } from '../shell'
import { argument, duration, text } from '../words'
import { step } from './orgs'

const MINUTE_MS = 60_000

export const linkColumns = [
  column('user', 'PERSON'),
  column('url', 'LINK', { keep: true }),
  column('expires_at', 'UNTIL', { kind: 'time' }),
]

type LinkInput = { ttl?: number | undefined; to?: string }

/** Makes a link that signs this person in once: until `ttl` milliseconds are over, to the page at `to`. */
export async function makeLink(shell: Shell, user: string, { ttl, to }: LinkInput) {
  const { users } = (await shell.connect()).ops()
  const input = { ...(ttl !== undefined && { ttl_minutes: Math.ceil(ttl / MINUTE_MS) }), ...(to && { to }) }
  return { user, ...expectData(await users({ ref: step(user) })['console-link'].post(input)) }
}

/** The same, and hands it over as a secret. */
export async function deliverLink(shell: Shell, user: string, input: LinkInput, methods: Methods): Promise<void> {
  const outlet = prepareSecret(shell, 'url', methods, LINK_FATE)
  try {
    outlet.deliver(await makeLink(shell, user, input), linkColumns)
  } catch (error) {
    outlet.abandon()
    throw error
  }
}

const USER = 'account by e-mail address or id'

export const userLink = defineCommand({
  path: 'users link',
  summary: 'Create a one-time link that signs an account in and lets it set a password',
  about:
    'For a first sign-in, and for people who lost their password. The link works once, for 15 minutes by default and 24 hours at most. The account keeps its sessions and password until the person sets a new one.',
  examples: ['users link ada@example.com', 'users link ada@example.com --ttl 4h --secret-to link.txt'],
  apis: ['operator'],
  impact: 'write',
  danger: 'secret once',
  exits: [3, 5],
  columns: linkColumns,
  args: { user: argument(USER) },
  flags: { ttl: duration('DURATION', 'how long the link works, 15m by default'), ...SECRET_FLAGS },
  async run(shell, { user, ttl, ...methods }) {
    if (shell.planned(`create a sign-in link for ${user}`)) return
    await deliverLink(shell, user, { ttl }, methods)
  },
})

const passwordColumns = [column('email', 'E-MAIL'), column('ended', 'SESSIONS ENDED', { kind: 'number' })]

export const userPassword = defineCommand({
  path: 'users password',
  summary: 'Set a new password for an account and end its sessions',
  about:
    'Creates a new password and shows it once, for you to pass on. With --from-file it reads the password from a file, or from stdin with -, and does not show it. All sessions and sign-in links of the account end. Its API keys still work. If you should not know the password, use users link instead.',
  examples: ['users password ada@example.com --yes', 'users password ada@example.com --from-file pw.txt --yes'],
  apis: ['operator'],
  impact: 'write',
  danger: 'secret once',
  exits: [3],
  columns: passwordColumns,
  args: { user: argument(USER) },
  flags: { fromFile: text('FILE', 'a file that contains the password; - reads stdin'), ...SECRET_FLAGS },
  async run(shell, { user, fromFile, ...methods }) {
    if (shell.planned(`set the password of ${user}`)) return
    const chosen =
      fromFile === undefined
        ? null
        : await readSecretInput(shell, { label: 'password', fromFile, instead: 'leave out --from-file' })
    shell.confirm(`Set a new password for ${user}? All its sessions end.`)
    const outlet = chosen === null ? prepareSecret(shell, 'password', methods) : null
    try {
      const { users } = (await shell.connect()).ops()
      const input = chosen === null ? {} : { password: chosen }
      const done = expectData(await users({ ref: step(user) }).password.post(input))
      const { password: _shownOnce, ...shown } = done
      if (outlet) outlet.deliver(done, passwordColumns)
      else shell.print.item(shown, passwordColumns)
    } catch (error) {
      outlet?.abandon()
      throw error
    }
  },
})
