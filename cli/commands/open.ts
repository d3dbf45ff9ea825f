import { defineCommand } from '../command'
import type { Connection } from '../connection'
import { BadWord, expectData, unreachable } from '../failure'
import { column } from '../output/columns'
import { openInWebBrowser } from '../web-browser'
import { flag, optional } from '../words'

/** Pages of the server by the word that opens them. */
const PAGES = {
  docs: '/docs',
  console: '/docs/console',
  home: '/home',
  inbox: '/operator',
  health: '/api/v1/health',
  openapi: '/openapi.json',
} as const
type Page = keyof typeof PAGES

const columns = [column('page', 'PAGE'), column('url', 'URL'), column('opened', 'OPENED', { kind: 'flag' })]

const page = {
  ...optional(`${Object.keys(PAGES).join(', ')}; docs by default`),
  read: (word: string): string => {
    if (Object.hasOwn(PAGES, word)) return word
    throw new BadWord(`is "${word}"; it must be one of ${Object.keys(PAGES).join(', ')}`)
  },
}

export const openPage = defineCommand({
  path: 'open',
  summary: 'Open a page of the server in the web browser of this machine',
  about:
    'Opens the reference, its console, the page of an account, the inbox of takeovers, the health or the OpenAPI document. Where there is no browser, or with --print, it only prints the address.',
  examples: ['open', 'open inbox', 'open console --print'],
  apis: ['operator', 'tenant'],
  offline: false,
  impact: 'read',
  columns,
  args: { page },
  flags: { print: flag('print the address and open nothing') },
  async run(shell, { page = 'docs', print }) {
    const connection = await shell.connect()
    const url = `${await originOf(connection)}${PAGES[page as Page]}`
    const opened = !print && openInWebBrowser(shell, url)
    shell.print.item({ page, url, opened }, columns)
    if (!opened && !print) shell.note('No web browser was found here. Open the address elsewhere.')
  },
})

/** Where people reach the pages: the public address, else that of the API. @throws CommandFailed 7 without either */
async function originOf(connection: Connection): Promise<string> {
  const { public_url, api_url } =
    connection.api === 'tenant'
      ? { public_url: null, api_url: (await connection.tenant()).url }
      : expectData(await connection.ops().status.get())
  const url = public_url ?? api_url
  if (!url) throw unreachable('The server listens on no address.', 'svc-admin serve')
  return new URL(url).origin
}
