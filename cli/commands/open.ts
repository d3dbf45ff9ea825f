import { spawn } from 'node:child_process'
import type { OpsClient } from '../../src/app/client'
import { DEV_OWNER } from '../../src/kernel/user-folder'
import { columnsOf, commandsOf } from '../command'
import { expectData, unreachable, usageFailure } from '../failure'
import type { Shell } from '../shell'
import { type Arg, duration, flag, oneOf, text } from '../words'
import { linkOf } from './users'

const command = commandsOf('', { apis: ['operator', 'tenant'], exits: [] })

const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

const OTHERS = ['xdg-open', 'sensible-browser', 'wslview'] as const

/** Programs that find no browser end sooner. One that still runs has opened a browser. */
const OPENING_MS = 2_000

/** Pages of the server, by the word that opens them. */
const PAGES = {
  docs: '/docs',
  console: '/console',
  home: '/home',
  inbox: '/operator',
  health: '/api/v1/health',
  openapi: '/openapi.json',
} as const
type Page = keyof typeof PAGES
const SIGNING_IN: ReadonlySet<Page> = new Set(['console', 'home', 'inbox'])

const columns = columnsOf`page PAGE, url URL, opened OPENED flag`

const page = {
  ...oneOf(Object.keys(PAGES) as Page[], `${Object.keys(PAGES).join(', ')}; docs by default`),
  required: false,
} as Arg<Page | undefined>

export const openPage = command`open (live, exits 3 5): Open a page of the server in the web browser of this machine
  Opens the reference, the console, the account page, the inbox of takeovers, the health or the OpenAPI document. For an operator, console, home and inbox open signed in, with a link that works once. The link is for the owner that the first start created, the only account, or the person of --for. Without a browser, or with --print, it only prints the address.
  $ open
  $ open console
  $ open inbox --for ada@example.com --print`({
  columns,
  args: { page },
  flags: {
    for: text('PERSON', 'the person that console, home and inbox sign in: e-mail address or id'),
    ttl: duration('DURATION', 'how long the sign-in link works, 15m by default'),
    print: flag('print the address and do not open it'),
  },
  action({ page = 'docs', for: person, ttl }) {
    if (SIGNING_IN.has(page) || (person === undefined && ttl === undefined)) return `open the page ${page}`
    throw usageFailure('--for and --ttl work only with console, home and inbox.')
  },
  async run(shell, { page = 'docs', for: person, ttl, print }) {
    const connection = await shell.connect()
    const to = PAGES[page]
    const ops = connection.api === 'operator' ? connection.ops() : null
    // The public address, else that of the API.
    const { public_url, api_url } = ops
      ? expectData(await ops.status.get())
      : { public_url: null, api_url: (await connection.tenant()).url }
    const origin = public_url ?? api_url
    if (!origin) throw unreachable('The server does not listen on any address.', 'svc-admin serve')
    const signed = ops && SIGNING_IN.has(page) && (await linkOf(ops, person ?? (await ownerHere(ops)), { ttl, to }))
    const url = signed ? expectData(signed).url : `${new URL(origin).origin}${to}`
    const opened = !print && (await openInWebBrowser(shell, url))
    shell.print.item({ page, url, opened }, columns)
    if (!opened && !print) shell.note('This machine cannot open a web browser. Open the address elsewhere.')
  },
})

/** Default user to sign in: the owner from the first start, else the only account. @throws CommandFailed 2 */
async function ownerHere({ users }: OpsClient): Promise<string> {
  const { data } = await users({ ref: DEV_OWNER }).get()
  if (data) return DEV_OWNER
  const [only, ...others] = expectData(await users.get({ query: { limit: 2 } })).users
  if (only && others.length === 0) return only.email
  throw usageFailure(
    only ? 'There are several accounts.' : 'There is no account yet.',
    only ? '--for EMAIL' : 'svc-admin users create EMAIL --link',
  )
}

/** Opens a link that was printed. Says so where this machine has no browser. */
export async function openLink(shell: Shell, url: string): Promise<void> {
  if (!(await openInWebBrowser(shell, url)))
    shell.note('This machine cannot open a web browser. Open the link elsewhere.')
}

/**
 * Opens an http(s) address in the web browser of this machine. Returns false without a browser, without a display, or
 * if the browser fails.
 */
export async function openInWebBrowser(
  { env, clock }: Pick<Shell, 'env' | 'clock'>,
  address: string,
): Promise<boolean> {
  const { href, protocol } = new URL(address)
  if (!/^https?:$/.test(protocol)) return false
  const hasScreen = env.DISPLAY || env.WAYLAND_DISPLAY || env.WSL_DISTRO_NAME
  const others = [env.BROWSER, ...(hasScreen ? OTHERS : [])]
  const known = OPENERS[process.platform] ?? others.find((name) => name && Bun.which(name))
  if (!known) return false
  const [program, ...args] = typeof known === 'string' ? [known] : known
  // The browser outlives the command, and its output is not for this terminal.
  const child = spawn(program!, [...args, href], { detached: true, stdio: 'ignore' })
  const waited = new AbortController()
  const ended = new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
  }).finally(() => waited.abort())
  const opened = await Promise.race([ended, clock.sleep(OPENING_MS, waited.signal).then(() => true)])
  child.unref()
  return opened
}
