import type { Delivery } from '../../src/webhooks/schema'
import { defineCommand } from '../command'
import { attempts, filters, WEBHOOK_FLAG } from '../delivery-log'
import { EXIT } from '../exit'
import { CommandFailed } from '../failure'
import { tail } from '../tail'
import { argument, choice, flag, LAST } from '../words'
import { deliveryColumns as columns } from './webhooks-columns'

const common = { apis: ['tenant', 'operator'], offline: true } as const
const ANY = { event: undefined, since: undefined, http: undefined }

const listDeliveries = defineCommand({
  ...common,
  columns,
  path: 'deliveries list',
  summary: 'List the newest attempts to deliver, newest first',
  about: 'Fifty of each webhook. With --watch the list is read again every two seconds.',
  examples: ['deliveries list --status failed --http 5xx', 'deliveries list --webhook 31aa07c2-… --watch'],
  impact: 'read',
  danger: 'none',
  exits: [3, 4, 7],
  watchable: true,
  flags: { ...filters, status: choice(['success', 'failed'], 'only those that ended so') },
  async run(shell, wanted) {
    shell.print.list(await attempts(shell, wanted), columns, 'Nothing was delivered yet.')
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
  flags: { webhook: WEBHOOK_FLAG, failed: flag('only those that failed'), last: LAST },
  async run(shell, { webhook, failed, last = 10 }) {
    const wanted = { ...ANY, webhook, status: failed ? ('failed' as const) : undefined }
    await tail(shell, { columns, newest: () => attempts(shell, wanted), last, what: 'attempt' })
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
  flags: { webhook: WEBHOOK_FLAG },
  async run(shell, { id, webhook }) {
    shell.print.item(findAttempt(await attempts(shell, { ...ANY, webhook }), id), columns)
  },
})

/** The attempt of this id among these. @throws CommandFailed 3 */
export function findAttempt(all: readonly Delivery[], id: string): Delivery {
  const found = all.find((one) => one.id.startsWith(id))
  if (found) return found
  throw new CommandFailed({
    exitCode: EXIT.missing,
    code: 'not_found',
    message: `No attempt ${id} among the newest.`,
    fix: 'svc-admin deliveries list',
  })
}

export const deliveryCommands = [listDeliveries, tailDeliveries, getDelivery]
