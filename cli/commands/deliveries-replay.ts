import { CSV_BEGIN } from '../../src/kernel/csv'
import type { Delivery } from '../../src/webhooks/schema'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { deliver } from '../download'
import { CheckFailed, EXIT, expectData, usageFailure } from '../failure'
import { formatOf } from '../globals'
import { column } from '../output/columns'
import { safeJson } from '../output/json'
import { csvOf } from '../output/print'
import type { Shell } from '../shell'
import { choice, flag, text, whole, words } from '../words'
import { attempts, filters, findAttempt } from './deliveries'
import { deliveryColumns } from './webhooks-columns'

const common = { apis: ['tenant', 'operator'] } as const
const replayed = [column('delivery_id', 'DELIVERY'), column('retried', 'RETRIED', { kind: 'flag' })]
/** Gentle with a receiver that has just come back. */
const RATE = 5
const [POLL_MS, PATIENCE_MS] = [250, 20_000]
const NOTHING = 'No failed delivery can be sent again.'

const replayDeliveries = defineCommand({
  ...common,
  columns: replayed,
  path: 'deliveries replay',
  summary: 'Send the events of failed attempts again',
  about:
    'Sends the same bytes to the current address, signed with the current secret. --all takes every event that matches the filters and whose newest attempt failed; --dry-run counts them. With --wait it exits 9 when one fails again, and 8 when one is still pending.',
  examples: ['deliveries replay 9c1f…', 'deliveries replay --all --webhook 31aa07c2-… --since 24h --yes'],
  impact: 'write',
  danger: 'moderate',
  exits: [3, 5, 8, 9],
  args: { ids: words('ids of the attempts, or the start of each id') },
  flags: {
    ...filters,
    all: flag('all failed events that match the filters, instead of ids'),
    wait: flag('wait for each result, at most 20 seconds'),
    rate: whole('N', `deliveries per second; ${RATE} by default`, { min: 1, max: 100 }),
  },
  async run(shell, { ids = [], all, wait, rate = RATE, ...wanted }) {
    if (!ids.length && !all)
      throw usageFailure('deliveries replay needs the id of an attempt, or --all.', 'svc-admin deliveries list')
    const found = all
      ? shell.print.kept(stillFailed(await attempts(shell, wanted, true)), deliveryColumns)
      : await attempts(shell, wanted).then((known) => ids.map((id) => findAttempt(known, id)))
    if (shell.planned(`send ${found.length} deliveries again`)) return
    if (found.length > 1) shell.confirm(`Send ${found.length} deliveries again?`)
    await replay(shell, found, { pauseMs: 1_000 / rate, wait })
  },
})

/** Of each event of a webhook only the newest attempt counts. */
function stillFailed(newestFirst: readonly Delivery[]): Delivery[] {
  const seen = new Set<string>()
  return newestFirst.filter(({ webhook_id, event_id, status, next_retry_at }) => {
    const isNewest = !seen.has(`${webhook_id} ${event_id}`)
    seen.add(`${webhook_id} ${event_id}`)
    return isNewest && status === 'failed' && next_retry_at === null
  })
}

async function replay(
  shell: Shell,
  found: readonly Delivery[],
  { pauseMs, wait }: { pauseMs: number; wait: boolean },
): Promise<void> {
  const { api } = await apiOf(shell)
  const done: object[] = []
  const before = wait ? await attemptsOf(shell, found) : []
  try {
    for (const [at, { id, webhook_id }] of found.entries()) {
      if (at > 0) await shell.clock.sleep(pauseMs, shell.signal)
      if (shell.signal.aborted) break
      done.push(expectData(await api.webhooks({ id: webhook_id }).deliveries({ deliveryId: id }).retry.post()))
    }
  } finally {
    if (!wait && (done.length || !found.length)) shell.print.list(done, replayed, NOTHING)
  }
  if (wait) await outcome(shell, { found: found.slice(0, done.length), before })
}

/** Shows the attempt that followed each. Exits 9 when one failed, 8 when one has not ended in time. */
async function outcome(shell: Shell, { found, before }: { found: readonly Delivery[]; before: readonly Delivery[] }) {
  const known = new Set(before.map(({ id }) => id))
  const until = shell.clock.monotonic() + PATIENCE_MS
  let ended: Delivery[] = []
  for (;;) {
    const fresh = (await attemptsOf(shell, found)).filter(({ id }) => !known.has(id))
    ended = found.flatMap(
      (one) => fresh.find((other) => one.event_id === other.event_id && one.webhook_id === other.webhook_id) ?? [],
    )
    const isOver = ended.length === found.length || shell.clock.monotonic() >= until
    if (isOver || shell.signal.aborted) break
    await shell.clock.sleep(POLL_MS, shell.signal)
  }
  shell.print.list(ended, deliveryColumns, NOTHING)
  if (ended.some(({ status }) => status === 'failed')) throw new CheckFailed()
  if (ended.length === found.length) return
  shell.note(`${found.length - ended.length} of ${found.length} are still pending.`)
  shell.exitCode = shell.signal.aborted ? EXIT.interrupted : EXIT.pending
}

/** The newest attempts of the webhooks of these. */
async function attemptsOf(shell: Shell, found: readonly Delivery[]): Promise<Delivery[]> {
  const ids = [...new Set(found.map(({ webhook_id }) => webhook_id))]
  const some = ids.map((webhook) => attempts(shell, { webhook, event: undefined, since: undefined, http: undefined }))
  return (await Promise.all(some)).flat()
}

const exportDeliveries = defineCommand({
  ...common,
  columns: deliveryColumns,
  path: 'deliveries export',
  summary: 'Write every stored delivery attempt as CSV or JSON lines, newest first',
  about:
    'Attempts are stored as long as events, 30 days by default. The file is CSV; with -o jsonl it has one attempt per line.',
  examples: ['deliveries export --out deliveries.csv', 'deliveries export --status failed --since 24h -o jsonl'],
  impact: 'read',
  exits: [3],
  flags: {
    ...filters,
    status: choice(['success', 'failed'], 'only attempts with this result'),
    out: text('FILE', 'file to write instead of stdout; readable only by you'),
  },
  async run(shell, { out, ...wanted }) {
    const question = formatOf(shell.globals)
    if (!['jsonl', 'json', 'csv', 'table'].includes(question))
      throw usageFailure(`deliveries export writes csv or jsonl, not ${question}.`, '-o jsonl')
    const all = await attempts(shell, wanted, true)
    const isCsv = question === 'csv' || question === 'table'
    const lines = isCsv ? csvOf(all, deliveryColumns) : all.map((one) => safeJson(one))
    await deliver(shell, piecesOf(lines, isCsv ? CSV_BEGIN : ''), out)
  },
})

async function* piecesOf(lines: readonly string[], begin: string): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  yield encoder.encode(begin)
  for (const line of lines) yield encoder.encode(`${line}\n`)
}

export const deliveryFileCommands = [replayDeliveries, exportDeliveries]
