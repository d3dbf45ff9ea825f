import type { Delivery } from '../../src/webhooks/schema'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { EXIT } from '../exit'
import { CommandFailed, expectData, usageFailure } from '../failure'
import { column } from '../output/columns'
import type { Shell } from '../shell'
import { tail } from '../tail'
import { argument, choice, flag, LAST, text, words } from '../words'
import { deliveryColumns as columns, WEBHOOK } from './webhooks-columns'

const common = { apis: ['tenant', 'operator'], offline: true } as const
const webhook = text('ID', `${WEBHOOK}; all of yours by default`)
/** Most webhooks that are looked through where none is named. */
const MOST = 100

/** The newest attempts of one webhook, or of all. */
async function newest(shell: Shell, only: string | undefined): Promise<Delivery[]> {
  const { api, whose } = await apiOf(shell)
  const ids = only
    ? [only]
    : expectData(await api.webhooks.get({ query: { limit: MOST, ...whose } })).webhooks.map(({ id }) => id)
  const found: Delivery[] = []
  for (const id of ids) {
    found.push(...expectData(await api.webhooks({ id: encodeURIComponent(id) }).deliveries.get()).deliveries)
  }
  return found.sort((a, b) => b.created_at.localeCompare(a.created_at))
}

const listDeliveries = defineCommand({
  ...common,
  columns,
  path: 'deliveries list',
  summary: 'List the newest attempts to deliver, newest first',
  about: 'Fifty of each webhook. With --watch the list is read again every two seconds.',
  examples: ['deliveries list --status failed', 'deliveries list --webhook 31aa07c2-… --watch'],
  impact: 'read',
  danger: 'none',
  exits: [3, 4, 7],
  watchable: true,
  flags: {
    webhook,
    status: choice(['success', 'failed'], 'only those that ended so'),
    event: text('TYPE', 'only of this event'),
  },
  async run(shell, { webhook, status, event }) {
    const all = await newest(shell, webhook)
    const isWanted = (one: Delivery) => (!status || one.status === status) && (!event || one.event_type === event)
    shell.print.list(all.filter(isWanted), columns, 'Nothing was delivered yet.')
  },
})

const tailDeliveries = defineCommand({
  ...common,
  columns,
  path: 'deliveries tail',
  summary: 'Print attempts to deliver as they end',
  about: 'Goes on until Ctrl-C. In a pipe, and with -o json, each attempt is one line of JSON.',
  examples: ['deliveries tail --failed', 'deliveries tail --webhook 31aa07c2-… -o jsonl'],
  impact: 'read',
  danger: 'none',
  exits: [3, 4, 7],
  offline: false,
  flags: { webhook, failed: flag('only those that failed'), last: LAST },
  async run(shell, { webhook, failed, last = 10 }) {
    const all = () => newest(shell, webhook)
    const wanted = async () => (await all()).filter(({ status }) => !failed || status === 'failed')
    await tail(shell, { columns, newest: wanted, last, what: 'attempt' })
  },
})

const getDelivery = defineCommand({
  ...common,
  columns,
  path: 'deliveries get',
  summary: 'Show one attempt to deliver',
  about: 'It is one of the fifty newest of its webhook.',
  examples: ['deliveries get 9c1f…', 'deliveries get 9c1f… --webhook 31aa07c2-… --json'],
  impact: 'read',
  danger: 'none',
  exits: [3, 4, 7],
  args: { id: argument('id of the attempt, or its beginning') },
  flags: { webhook },
  async run(shell, { id, webhook }) {
    shell.print.item(find(await newest(shell, webhook), id), columns)
  },
})

const replayed = [column('delivery_id', 'DELIVERY'), column('retried', 'RETRIED', { kind: 'flag' })]

const replayDeliveries = defineCommand({
  ...common,
  columns: replayed,
  path: 'deliveries replay',
  summary: 'Send the events of failed attempts again',
  about: 'The same bytes go to the address as it is now, signed with the secret as it is now.',
  examples: ['deliveries replay 9c1f…', 'deliveries replay 9c1f… 77ab… --yes --json'],
  impact: 'write',
  danger: 'moderate',
  exits: [3, 4, 5, 7, 10],
  args: { ids: words('ids of the attempts, or their beginnings') },
  flags: { webhook },
  async run(shell, { ids = [], webhook }) {
    if (!ids.length) throw usageFailure('deliveries replay needs the id of an attempt.', 'svc-admin deliveries list')
    if (shell.planned(`send ${ids.length} deliveries again`)) return
    if (ids.length > 1) shell.confirm(`Send ${ids.length} deliveries again?`)
    const all = await newest(shell, webhook)
    const wanted = ids.map((id) => find(all, id))
    const { api } = await apiOf(shell)
    const done: object[] = []
    try {
      for (const { id, webhook_id } of wanted) {
        done.push(expectData(await api.webhooks({ id: webhook_id }).deliveries({ deliveryId: id }).retry.post()))
      }
    } finally {
      if (done.length) shell.print.list(done, replayed, '')
    }
  },
})

function find(all: readonly Delivery[], id: string): Delivery {
  const found = all.find((one) => one.id.startsWith(id))
  if (found) return found
  throw new CommandFailed({
    exitCode: EXIT.missing,
    code: 'not_found',
    message: `No attempt ${id} among the newest.`,
    fix: 'svc-admin deliveries list',
  })
}

export const deliveryCommands = [listDeliveries, tailDeliveries, getDelivery, replayDeliveries]
