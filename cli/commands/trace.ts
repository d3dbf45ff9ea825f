import { iso } from '../../src/kernel/clock'
import { clean } from '../../src/kernel/text'
import type { RequestTrace } from '../../src/operators/schema'
import { defineCommand } from '../command'
import type { Connection } from '../connection'
import { expectData, unreachable } from '../failure'
import { formatOf } from '../globals'
import { column } from '../output/columns'
import { safeJson } from '../output/json'
import { record } from '../output/table'
import type { Shell } from '../shell'
import { argument, duration, flag, optional } from '../words'

const columns = [
  column('id', 'REQUEST'),
  column('owner', 'OF'),
  column('request', 'ANSWER'),
  column('steps', 'STEPS'),
  column('ledger', 'MONEY'),
  column('audit', 'RECORD'),
]

export const trace = defineCommand({
  path: 'trace',
  summary: 'Show everything about one request, from arrival to charge',
  about:
    'Prints the stages with their times, each engine attempt with its real error, tools, guardrails, money and record. The process that answered remembers the steps of its newest 2,000 requests. For older requests, give the OWNER and --since; money and record are stored. Prompts and answers are not shown.',
  examples: ['trace req_1f4xEU9WTdZBc4YIr2VvP0Ba', 'trace req_1f4xEU9WTdZBc4YIr2VvP0Ba acme --since 7d --json'],
  apis: ['operator'],
  impact: 'read',
  exits: [3],
  columns,
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
    if (open) return await openIn(shell, connection, ['trace', request, ...(owner ? [owner] : [])])
    const query = {
      ...(owner === undefined ? {} : { owner }),
      ...(since === undefined ? {} : { since: iso(shell.clock.now() - since) }),
    }
    const found = expectData(
      await connection
        .ops()
        .requests({ ref: encodeURIComponent(request) })
        .get({ query }),
    )
    if (formatOf(shell.globals) === 'table' && !shell.globals.fields) draw(shell, found)
    else shell.print.item(found, columns)
  },
})

async function openIn(shell: Shell, { transport }: Connection, first: readonly string[]): Promise<void> {
  if (transport.kind === 'local') throw unreachable('trace --open needs a running server.', 'svc-admin serve')
  const { showDashboard } = await import('./dashboard')
  await showDashboard(shell, { screen: 'logs', canWrite: shell.globals.inProfile?.production !== true, first })
}

/** A drawing and no table: what began when, under each other, with what came of it beside it. */
function draw({ io, paint }: Shell, { id, owner, request, steps, ledger, audit }: RequestTrace): void {
  const say = (line: string) => io.out(clean(line))
  const answered = request ? [['answer', `${request.method} ${request.path}  ${request.status}  ${request.ms} ms`]] : []
  const about = [['request', id], ...answered, ['of', owner ?? 'unknown']]
  // A request that was refused early is nobody's yet, but its line names who sent it.
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

const spelled = (facts: Readonly<Record<string, unknown>>): string =>
  Object.entries(facts)
    .filter(([name, value]) => value !== null && name !== 'owner')
    .map(([name, value]) => `${name}=${typeof value === 'string' && /\s/.test(value) ? JSON.stringify(value) : value}`)
    .join(' ')
