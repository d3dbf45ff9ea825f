import { iso } from '../../src/kernel/clock'
import { clean } from '../../src/kernel/text'
import type { RequestTrace } from '../../src/operators/schema'
import { columnsOf, commandsOf, defined } from '../command'
import { expectData, unreachable } from '../failure'
import { formatOf } from '../globals'
import { safeJson } from '../output/json'
import { record } from '../output/table'
import { tail } from '../pages'
import type { Shell } from '../shell'
import { argument, duration, type FlagsGiven, flag, LAST, list, optional, text, whole } from '../words'

const single = commandsOf('', { apis: ['operator'], exits: [] })

const traceColumns = columnsOf`id REQUEST, owner OF, request ANSWER, steps STEPS, ledger MONEY, audit RECORD`

export const trace = single`trace (exits 3): Show everything about one request, from arrival to charge
  Prints the stages with their times, each engine attempt with its real error, tools, guardrails, money and record. The process that answered remembers the steps of its newest 2,000 requests. For older requests, give the OWNER and --since; money and record are stored. Prompts and answers are not shown.
  $ trace req_1f4xEU9WTdZBc4YIr2VvP0Ba
  $ trace req_1f4xEU9WTdZBc4YIr2VvP0Ba acme --since 7d --json`({
  columns: traceColumns,
  args: {
    request: argument('the id in every answer and error, req_…'),
    owner: optional('owner of the request, if no process remembers it: org or user'),
  },
  flags: {
    since: duration('24h', 'how far back to search the record'),
    open: flag('show it in the dashboard, above the requests around it'),
  },
  async run(shell, { request, owner = shell.globals.org, since, open }) {
    const connection = await shell.connect()
    if (open) {
      if (connection.transport.kind === 'local')
        throw unreachable('trace --open needs a running server.', 'svc-admin serve')
      const first = ['trace', request, ...(owner ? [owner] : [])]
      const canWrite = shell.globals.inProfile?.production !== true
      return (await import('./dashboard')).showDashboard(shell, { screen: 'logs', canWrite, first })
    }
    const query = defined({ owner, since: since === undefined ? undefined : iso(shell.clock.now() - since) })
    const one = connection.ops().requests({ ref: request })
    const found = expectData(await one.get({ query }))
    if (formatOf(shell.globals) === 'table' && !shell.globals.fields) draw(shell, found)
    else shell.print.item(found, traceColumns)
  },
})

const spelled = (facts: Readonly<Record<string, unknown>>): string =>
  Object.entries(facts)
    .filter(([name, value]) => value !== null && name !== 'owner')
    .map(([name, value]) => `${name}=${typeof value === 'string' && /\s/.test(value) ? JSON.stringify(value) : value}`)
    .join(' ')

const columns = columnsOf`
  at TIME time, status STATUS number, method METHOD keep, path PATH, ms MS number, code CODE min, key KEY min,
  user USER wide, id REQUEST keep`

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

/** An answered request, as the operator stream reports it. */
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

const WHAT = 'Each process keeps its newest requests in memory, without the contents of requests or answers.'
const command = commandsOf('logs', { apis: ['operator'], offline: false, columns })

/** The buffered requests that match the filters, newest first. */
async function newest(
  shell: Shell,
  {
    status,
    method,
    path,
    key,
    code,
    minMs = 0,
    since = Number.POSITIVE_INFINITY,
    until = Number.NEGATIVE_INFINITY,
  }: FlagsGiven<typeof filters>,
): Promise<Line[]> {
  const { topics } = expectData(await (await shell.connect()).ops().snapshot.get({ query: { topics: 'logs' } }))
  const now = shell.clock.now()
  return (topics.flatMap(({ rows }) => rows) as Line[]).filter(
    (line) =>
      (!status || [String(line.status), `${String(line.status)[0]}xx`].some((one) => status.includes(one))) &&
      (!method || method.toUpperCase() === line.method) &&
      (!path || line.path.includes(path)) &&
      (!key || (line.key ?? '').startsWith(key)) &&
      (!code || line.code === code) &&
      line.ms >= minMs &&
      Date.parse(line.at) >= now - since &&
      Date.parse(line.at) <= now - until,
  )
}

export const logCommands = [
  command`show (exits): List answered requests, newest first
  ${WHAT} trace REQ_ID shows one request in full.
  $ logs show --status 5xx
  $ logs show --min-ms 2000 --since 15m --json`({
    flags: { ...filters, last: whole('N', 'how many at most; 50 by default', { min: 1, max: 500 }) },
    answer: async ({ shell }, { last = 50, ...wanted }) => (await newest(shell, wanted)).slice(0, last),
    empty: 'No matching requests in memory.',
  }),
  command`tail (exits): Print requests as they are answered
  Runs until Ctrl-C. In a pipe each request is one line of JSON. ${WHAT}
  $ logs tail
  $ logs tail --status 4xx,5xx | jq .code`({
    flags: { ...filters, last: LAST },
    run: (shell, { last = 10, ...wanted }) =>
      tail(shell, { columns, newest: () => newest(shell, wanted), last, what: 'request' }),
  }),
]

/** Draws a timeline, not a table: steps in order of their start, each with its outcome. */
function draw({ io, paint }: Shell, { id, owner, request, steps, ledger, audit }: RequestTrace): void {
  const say = (line: string) => io.out(clean(line))
  const answered = request ? [['answer', `${request.method} ${request.path}  ${request.status}  ${request.ms} ms`]] : []
  const about = [['request', id], ...answered, ['of', owner ?? 'unknown']]
  // A request that was rejected early has no owner yet, but its log line names the sender.
  about.push(['user', request?.user ?? '-'], ['key', request?.key ?? '-'])
  for (const line of record(about as [string, string][])) say(line)
  const [first] = steps
  if (first) io.out(`\n${paint('strong', 'steps')}`)
  for (const { kind, name, at, ms, facts } of steps) {
    const moment = Date.parse(at) + (kind === 'settled' ? Math.round(ms) : 0)
    const after = `+${moment - Date.parse(first!.at)}`
    const bad = facts.failed || facts.error
    const line = `${after.padStart(7)} ms  ${kind.padEnd(7)} ${name.padEnd(18)} ${`${ms} ms`.padStart(11)}  ${spelled(facts)}`
    io.out(bad ? paint('bad', clean(line)) : clean(line))
  }
  if (ledger.length) io.out(`\n${paint('strong', 'money')}`)
  for (const { at, kind, amount_cents, balance_cents, note } of ledger)
    say(`  ${at}  ${kind.padEnd(10)} ${`${amount_cents}¢`.padStart(12)}  balance ${balance_cents}¢  ${note ?? ''}`)
  if (audit.length) io.out(`\n${paint('strong', 'record')}`)
  for (const event of audit) say(`  ${event.at}  ${event.action}  ${event.entity_id ?? ''}  ${safeJson(event.output)}`)
}
