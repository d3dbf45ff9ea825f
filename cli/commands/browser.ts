import { randomBase62 } from '../../src/kernel/crypto'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { CheckFailed, expectData, usageFailure } from '../failure'
import { column } from '../output/columns'
import type { Shell } from '../shell'
import { argument, choice, flag, text, words } from '../words'

export const args = { id: argument('id of the session') }
export const ID = 'bb_sess_…'

const columns = [
  column('session_id', 'SESSION', { keep: true }),
  column('status', 'STATE'),
  column('current_url', 'PAGE'),
  column('expires_at', 'LEFT', { kind: 'time' }),
  column('live_view_version', 'VIEW', { kind: 'number', min: true }),
  column('viewers', 'VIEWERS', { kind: 'number', min: true }),
  column('api_key_id', 'KEY', { min: true }),
  column('owner', 'OWNER', { wide: true }),
  column('current_title', 'TITLE', { wide: true }),
  column('last_active_at', 'USED', { kind: 'time', wide: true }),
  column('started_at', 'BEGUN', { kind: 'time', wide: true }),
]
const common = { apis: ['tenant', 'operator'], offline: false, columns } as const

/** The routes of one session, over either API. */
export async function sessionAt(shell: Shell, id: string) {
  const { api, isOperator } = await apiOf(shell)
  return { one: api.browser.sessions({ id: encodeURIComponent(id) }), isOperator }
}

const listSessions = defineCommand({
  ...common,
  path: 'browser list',
  summary: 'List the open browser sessions',
  about:
    "On the server's machine it lists all sessions, or with --org those of one organization or user. Over --url it lists those of your key.",
  examples: ['browser list', 'browser list --watch', 'browser list --org acme --json'],
  impact: 'read',
  exits: [3],
  watchable: true,
  async run(shell) {
    const { api, ownerFilter } = await apiOf(shell)
    const { sessions } = expectData(await api.browser.sessions.get({ query: ownerFilter }))
    shell.print.list(sessions, columns, 'No browser session is open.')
  },
})

const getSession = defineCommand({
  ...common,
  path: 'browser get',
  summary: 'Show one browser session: page, end and viewers',
  about: 'Also shows a session that has ended, with the reason. With --watch it is read again every two seconds.',
  examples: [`browser get ${ID}`, `browser get ${ID} --watch`],
  impact: 'read',
  exits: [3],
  watchable: true,
  args,
  async run(shell, { id }) {
    const { one } = await sessionAt(shell, id)
    shell.print.item(expectData(await one.get()), columns)
  },
})

const madeColumns = [...columns, column('embed_url', 'LINK', { wide: true })]
const createSession = defineCommand({
  ...common,
  columns: madeColumns,
  path: 'browser create',
  summary: 'Start a browser session of your own and print its link',
  about:
    'The session belongs to the key in use, which pays for its minutes. Anyone with the link can watch and control it for one hour.',
  examples: ['browser create --page https://example.com', 'browser create --keep-alive --json'],
  impact: 'write',
  exits: [3, 6],
  flags: {
    page: text('URL', 'public address to open first'),
    keepAlive: flag('do not end the session when it is idle'),
    proxy: flag("use the server's proxy; charged per MB"),
    region: text('NAME', 'region to run in'),
    noRecord: flag('do not record the steps'),
  },
  async run(shell, { page, keepAlive, proxy, region, noRecord }) {
    if (shell.planned('start a browser session')) return
    const { client } = await (await shell.connect()).tenant()
    const input = {
      ...(page === undefined ? {} : { url: page }),
      ...(keepAlive ? { keep_alive: true } : {}),
      ...(proxy ? { proxies: true } : {}),
      ...(region === undefined ? {} : { region }),
      ...(noRecord ? { record: false } : {}),
    }
    const headers = { 'idempotency-key': shell.globals.idempotencyKey ?? randomBase62(24) }
    const made = expectData(await client.browser.sessions.post(input, { headers }))
    shell.print.item(made, madeColumns)
    shell.note(`Watch it: ${made.embed_url}`)
  },
})

const TOOLS = ['act', 'navigate', 'extract', 'observe', 'screenshot'] as const
const actColumns = [
  column('tool', 'TOOL'),
  column('status', 'STATUS'),
  column('result', 'RESULT', { show: ({ result }) => JSON.stringify(result) }),
  column('live_view_version', 'VIEW', { kind: 'number', wide: true }),
  column('cost_cents', 'COST¢', { kind: 'money', wide: true }),
]

/** What the words after the id are to each tool. */
const argumentsOf = (tool: (typeof TOOLS)[number], text: string | undefined): Record<string, unknown> => {
  if (tool === 'screenshot') return {}
  if (tool === 'navigate') return { url: text ?? '' }
  return text === undefined ? {} : { instruction: text }
}

const actInSession = defineCommand({
  ...common,
  columns: actColumns,
  path: 'browser act',
  summary: 'Do one thing on the page that you describe in plain words',
  about:
    'Runs browser_act. --tool picks another of the five tools: navigate to an address, extract data, observe what can be clicked, or take a screenshot. Exits 9 when the tool fails.',
  examples: [
    `browser act ${ID} "click Sign in"`,
    `browser act ${ID} https://example.com --tool navigate`,
    `browser act ${ID} "every price" --tool extract --json`,
  ],
  impact: 'write',
  exits: [3, 6, 9],
  args: { ...args, said: words('what to do, or the address') },
  flags: { tool: choice(TOOLS, 'which tool; act by default') },
  async run(shell, { id, said: messages, tool = 'act' }) {
    const input = { tool: `browser_${tool}` as const, arguments: argumentsOf(tool, messages?.join(' ') || undefined) }
    if (shell.planned(`run ${input.tool} in session ${id}`)) return
    const { one } = await sessionAt(shell, id)
    const headers = { 'idempotency-key': shell.globals.idempotencyKey ?? randomBase62(24) }
    const done = expectData(await one.actions.post(input, { headers }))
    shell.print.item(done, actColumns)
    if (done.status === 'error') throw new CheckFailed()
  },
})

const endColumns = [
  column('session_id', 'SESSION', { keep: true }),
  column('duration_seconds', 'SECONDS', { kind: 'number' }),
  column('proxy_bytes', 'PROXY BYTES', { kind: 'number' }),
  column('cost_cents', 'COST¢', { kind: 'money' }),
]
const endSessions = defineCommand({
  ...common,
  columns: endColumns,
  path: 'browser end',
  summary: 'End browser sessions and print what they cost',
  about:
    '--all ends every session that browser list shows; with --org, those of one owner. Recorded as browser.session_ended.',
  examples: [`browser end ${ID}`, 'browser end --all --org acme --yes'],
  impact: 'write',
  danger: 'moderate',
  exits: [3],
  args: { ids: words('ids of the sessions') },
  flags: { all: flag('all that are open') },
  async run(shell, { ids = [], all }) {
    if (!all === !ids.length) {
      throw usageFailure('browser end needs ids of sessions, or --all.', 'svc-admin browser list shows them')
    }
    const { api, ownerFilter } = await apiOf(shell)
    const found = all ? expectData(await api.browser.sessions.get({ query: ownerFilter })).sessions : []
    const named = all ? found.map(({ session_id }) => session_id) : ids
    const what = named.length === 1 ? `session ${named[0]}` : `${named.length} sessions`
    if (shell.planned(`end ${what}`)) return
    if (!named.length) return shell.print.list([], endColumns, 'No browser session is open.')
    shell.confirm(`End ${what}?`)
    const ended: object[] = []
    try {
      for (const id of named) {
        ended.push(expectData(await api.browser.sessions({ id: encodeURIComponent(id) }).delete()))
      }
    } finally {
      if (ended.length) shell.print.list(ended, endColumns, '')
    }
  },
})

export const browserCommands = [listSessions, getSession, createSession, actInSession, endSessions]
