import { randomBase62 } from '../../src/kernel/crypto'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { expectData } from '../failure'
import { prepareSecret, SECRET_FLAGS, SIGNING_FATE } from '../secret'
import { readSecretInput } from '../secret-input'
import { webhookAt } from '../webhook-at'
import { argument, flag, list, text } from '../words'
import { resourceCommands } from './noun-commands'
import { webhookColumns as columns, WEBHOOK } from './webhooks-columns'

const common = { apis: ['tenant', 'operator'], columns } as const
const args = { id: argument(WEBHOOK) }
const ID = '31aa07c2-…'

const createWebhook = defineCommand({
  ...common,
  path: 'webhooks create',
  summary: 'Create a webhook and show its signing secret once',
  about:
    'The address must be public, and https in production. Without --events it receives everything. The secret is random, or the one in --from-file.',
  examples: [
    'webhooks create https://example.com/hook --events job.completed,job.failed',
    'webhooks create https://example.com/hook -q --secret-to hook.secret',
  ],
  impact: 'write',
  danger: 'secret once',
  exits: [3, 5],
  args: { address: argument('the address that receives the events') },
  flags: {
    events: list('A,B', 'names, families such as job.*, or *'),
    description: text('TEXT', 'a description'),
    ordered: flag('one delivery at a time, in order'),
    fromFile: text('FILE', 'a file with the secret to use; - reads stdin'),
    ...SECRET_FLAGS,
  },
  async run(shell, { address, events = ['*'], description, ordered, fromFile, ...methods }) {
    if (shell.planned(`create a webhook at ${address} for ${events.join(', ')}`)) return
    const given =
      fromFile === undefined
        ? {}
        : {
            secret: await readSecretInput(shell, { label: 'secret', fromFile, instead: 'leave out --from-file' }),
          }
    const outlet = prepareSecret(shell, 'signing_secret', methods, SIGNING_FATE)
    try {
      const { api, ownerFilter } = await apiOf(shell)
      const input = {
        url: address,
        event_types: events,
        ...given,
        ...(description === undefined ? {} : { description }),
        ...(ordered ? { ordered } : {}),
      }
      const headers = { 'idempotency-key': shell.globals.idempotencyKey ?? randomBase62(24) }
      outlet.deliver(expectData(await api.webhooks.post(input, { query: ownerFilter, headers })), columns)
    } catch (error) {
      outlet.abandon()
      throw error
    }
  },
})

const updateWebhook = defineCommand({
  ...common,
  path: 'webhooks update',
  summary: 'Change the address, the events or the description of a webhook',
  about: 'Settings that you do not name stay the same. Pending deliveries go to the new address.',
  examples: [`webhooks update ${ID} --events "job.*"`, `webhooks update ${ID} --to https://example.com/new`],
  impact: 'write',
  exits: [3, 5],
  args,
  flags: {
    to: text('URL', 'the new address'),
    events: list('A,B', 'names, families such as job.*, or *'),
    description: text('TEXT', 'a description'),
  },
  async run(shell, { id, to, events, description }) {
    const patch = {
      ...(to === undefined ? {} : { url: to }),
      ...(events === undefined ? {} : { event_types: events }),
      ...(description === undefined ? {} : { description }),
    }
    if (shell.planned(`change ${Object.keys(patch).join(', ') || 'nothing'} of webhook ${id}`)) return
    const { hook } = await webhookAt(shell, id)
    shell.print.item(expectData(await hook.patch(patch)), columns)
  },
})

const plain = resourceCommands<{ enabled: boolean }>({
  resource: 'webhooks',
  what: 'webhook',
  columns,
  id: ID,
  page: async (api, query) => {
    const found = expectData(await api.webhooks.get({ query }))
    return { items: found.webhooks, next: found.next_cursor }
  },
  at: async (shell, id) => ({ one: (await webhookAt(shell, id)).hook }),
  read: async (shell, id) => expectData(await (await webhookAt(shell, id)).hook.get()),
  first: 'create URL --events "*"',
  shown: 'Shows everything except the secret. To replace a lost secret, use webhooks rotate-secret.',
  switched: (enabled) => ({ enabled }),
  enable: ['Enable a webhook', 'Resets the count of failures. Events from the time it was disabled are not sent.'],
  disable: ['Disable a webhook', 'Its pending deliveries are dropped.'],
  along: ' with its pending deliveries and log',
})

export const webhookCommands = [
  plain.list,
  plain.get,
  createWebhook,
  updateWebhook,
  plain.enable,
  plain.disable,
  plain.remove,
]
