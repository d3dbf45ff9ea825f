import { defineCommand, type Input } from '../command'
import { expectData } from '../failure'
import { column } from '../output/columns'
import type { Shell } from '../shell'
import { tail } from '../tail'
import { duration, LAST, list, text, whole } from '../words'

const columns = [
  column('at', 'TIME', { kind: 'time' }),
  column('status', 'STATUS', { kind: 'number' }),
  column('method', 'METHOD', { keep: true }),
  column('path', 'PATH'),
  column('ms', 'MS', { kind: 'number' }),
  column('code', 'CODE', { min: true }),
  column('key', 'KEY', { min: true }),
  column('user', 'USER', { wide: true }),
  column('id', 'REQUEST', { keep: true, min: true }),
]

const filters = {
  status: list('4xx,429', 'only these statuses, or families such as 5xx'),
  method: text('METHOD', 'only this method'),
  path: text('TEXT', 'only paths that contain this text'),
  key: text('KEY', 'only this key: id, name or the start of one'),
  code: text('CODE', 'only answers with this error code'),
  minMs: whole('MS', 'only requests that took at least this long', { min: 0, max: 86_400_000 }),
  since: duration('5m', 'only requests at most this old'),
  until: duration('1m', 'only requests older than this'),
}
type Filters = Input<Record<never, never>, typeof filters>

/** One request that was answered, as the operator stream tells it. */
type Line = {
  id: string
  at: string
  method: string
  path: string
  status: number
  ms: number
  key: string | null
  code: string | null
}

const common = {
  apis: ['operator'],
  offline: false,
  impact: 'read',
  columns,
} as const

const WHAT = 'Each process keeps its newest requests in memory, without the contents of requests or answers.'

const showLogs = defineCommand({
  ...common,
  path: 'logs show',
  summary: 'List answered requests, newest first',
  about: `${WHAT} trace REQ_ID shows one request in full.`,
  examples: ['logs show --status 5xx', 'logs show --min-ms 2000 --since 15m --json'],
  watchable: true,
  flags: { ...filters, last: whole('N', 'how many at most; 50 by default', { min: 1, max: 500 }) },
  async run(shell, { last = 50, ...wanted }) {
    const lines = await newest(shell, wanted)
    shell.print.list(lines.slice(0, last), columns, 'No matching requests in memory.')
  },
})

const tailLogs = defineCommand({
  ...common,
  path: 'logs tail',
  summary: 'Print requests as they are answered',
  about: `Runs until Ctrl-C. In a pipe each request is one line of JSON. ${WHAT}`,
  examples: ['logs tail', 'logs tail --status 4xx,5xx | jq .code'],
  flags: { ...filters, last: LAST },
  run: (shell, { last = 10, ...wanted }) =>
    tail(shell, { columns, newest: () => newest(shell, wanted), last, what: 'request' }),
})

/** The requests that are remembered and wanted, newest first. */
async function newest(shell: Shell, wanted: Filters): Promise<Line[]> {
  const connection = await shell.connect()
  const { topics } = expectData(await connection.ops().snapshot.get({ query: { topics: 'logs' } }))
  const lines = topics.flatMap(({ rows }) => rows) as Line[]
  return lines.filter((line) => isWanted(line, wanted, shell.clock.now()))
}

function isWanted(line: Line, { status, method, path, key, code, minMs, since, until }: Filters, now: number): boolean {
  const family = `${String(line.status)[0]}xx`
  return (
    (!status || status.some((one) => one === String(line.status) || one === family)) &&
    (!method || method.toUpperCase() === line.method) &&
    (!path || line.path.includes(path)) &&
    (!key || (line.key ?? '').startsWith(key)) &&
    (!code || line.code === code) &&
    (minMs === undefined || line.ms >= minMs) &&
    (since === undefined || Date.parse(line.at) >= now - since) &&
    (until === undefined || Date.parse(line.at) <= now - until)
  )
}

export const logCommands = [showLogs, tailLogs]
