import { randomBase62 } from '../../src/kernel/crypto'
import { defineCommand } from '../command'
import { deliver, piecesOf } from '../download'
import { CheckFailed, expectData, usageFailure } from '../failure'
import { column } from '../output/columns'
import type { Shell } from '../shell'
import { duration, flag, text } from '../words'
import { args, ID, sessionAt } from './browser'
import { openInWebBrowser } from './open'

const linkColumns = [
  column('session_id', 'SESSION', { keep: true }),
  column('url', 'LINK', { keep: true }),
  column('rights', 'RIGHTS'),
  column('expires_at', 'UNTIL', { kind: 'time' }),
]
const common = {
  apis: ['tenant', 'operator'],
  offline: false,
  impact: 'write',
  args,
} as const
const rights = {
  readOnly: flag('the link shows the page and cannot control it'),
  ttl: duration('DURATION', 'how long the link works, from 1m to 60m; operators only'),
}
type Link = { id: string; readOnly: boolean; ttl: number | undefined }
const MINUTE_MS = 60_000

/** Makes a link and prints it. Null where nothing is made. */
async function printLink(shell: Shell, { id, readOnly, ttl }: Link): Promise<string | null> {
  if (ttl !== undefined && (ttl < MINUTE_MS || ttl > 60 * MINUTE_MS)) {
    throw usageFailure('--ttl must be from 1m to 60m.')
  }
  if (shell.planned(`create a link to session ${id}`)) return null
  const { one, isOperator } = await sessionAt(shell, id)
  if (isOperator) {
    const input = { control: !readOnly, ...(ttl === undefined ? {} : { ttl_seconds: Math.floor(ttl / 1_000) }) }
    const made = expectData(await one.link.post(input))
    shell.print.item(made, linkColumns)
    return made.url
  }
  if (ttl !== undefined) throw usageFailure('--ttl needs an operator; the link of a key works for 60 minutes.')
  const { session_id, live_view_url, embed_url, embed_token_expires_at, ended_reason } = expectData(await one.get())
  const url = readOnly ? live_view_url : embed_url
  if (url === null) {
    shell.note(`The session has ended: ${ended_reason}.`)
    throw new CheckFailed()
  }
  const made = { session_id, url, rights: readOnly ? 'view' : 'control', expires_at: embed_token_expires_at }
  shell.print.item(made, linkColumns)
  return url
}

async function show(shell: Shell, url: string): Promise<void> {
  if (!(await openInWebBrowser(shell, url)))
    shell.note('This machine cannot open a web browser. Open the link elsewhere.')
}

const liveLink = defineCommand({
  ...common,
  columns: linkColumns,
  path: 'browser live',
  summary: 'Create a link to the live view',
  about:
    'Anyone with the link sees the browser and can control it; with --read-only they can only watch. It works for 60 minutes, or for the time of --ttl. A link of an operator is recorded as browser.link_created.',
  examples: [`browser live ${ID} --read-only --ttl 10m`, `browser live ${ID} --open`],
  exits: [3, 9],
  flags: { ...rights, open: flag('open it in the web browser of this machine') },
  async run(shell, { id, readOnly, ttl, open }) {
    const url = await printLink(shell, { id, readOnly, ttl })
    if (url && open) await show(shell, url)
  },
})

const openLink = defineCommand({
  ...common,
  columns: linkColumns,
  path: 'browser open',
  summary: 'Open the live view in the web browser of this machine',
  about:
    'The same as browser live --open --read-only; with --control you can control the page. It prints the link too.',
  examples: [`browser open ${ID}`, `browser open ${ID} --control --json`],
  exits: [3, 9],
  flags: { control: flag('the link can also control the page'), ttl: rights.ttl },
  async run(shell, { id, control, ttl }) {
    const url = await printLink(shell, { id, readOnly: !control, ttl })
    if (url) await show(shell, url)
  },
})

const pictureColumns = [
  column('session_id', 'SESSION', { keep: true }),
  column('file', 'FILE', { keep: true }),
  column('size_bytes', 'BYTES', { kind: 'number' }),
  column('width', 'WIDTH', { kind: 'number' }),
  column('height', 'HEIGHT', { kind: 'number' }),
]
const screenshot = defineCommand({
  ...common,
  columns: pictureColumns,
  path: 'browser screenshot',
  summary: 'Save a screenshot of the page',
  about:
    'Saves a PNG of the visible page, or with --full-page of the whole page. It is also an artifact of the session.',
  examples: [`browser screenshot ${ID} --out page.png`, `browser screenshot ${ID} --out page.png --full-page`],
  exits: [3, 6, 9],
  flags: { out: text('FILE', 'where to save it'), fullPage: flag('include what is below the visible part') },
  async run(shell, { id, out, fullPage }) {
    if (!out)
      throw usageFailure('browser screenshot needs --out FILE.', `svc-admin browser screenshot ${id} --out page.png`)
    if (shell.planned(`take a picture of session ${id}`)) return
    const { one } = await sessionAt(shell, id)
    const headers = { 'idempotency-key': shell.globals.idempotencyKey ?? randomBase62(24) }
    const input = { tool: 'browser_screenshot' as const, arguments: fullPage ? { full_page: true } : {} }
    const done = expectData(await one.actions.post(input, { headers }))
    const { artifact, message } = done.result as { artifact?: Picture; message?: string }
    if (!artifact) {
      shell.note(message ?? 'The screenshot is missing.')
      throw new CheckFailed()
    }
    const connection = await shell.connect()
    await deliver(shell, await piecesOf(await connection.follow(artifact.url)), out)
    shell.print.item({ ...artifact, session_id: id, file: out }, pictureColumns)
  },
})
type Picture = { url: string; size_bytes: number; width: number; height: number }

export const browserLookCommands = [liveLink, openLink, screenshot]
