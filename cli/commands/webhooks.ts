import { randomBase62 } from '../../src/kernel/crypto'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { expectData } from '../failure'
import { column } from '../output/columns'
import { pageFlags, printPages } from '../pages'
import { prepareSecret, SECRET_FLAGS, SIGNING_FATE } from '../secret'
import { readSecretInput } from '../secret-input'
import type { Shell } from '../shell'
import { webhookAt } from '../webhook-at'
import { argument, flag, list, text } from '../words'
import { webhookColumns as columns, WEBHOOK } from './webhooks-columns'

const common = { apis: ['tenant', 'operator'], offline: true, columns } as const
const args = { id: argument(WEBHOOK) }

const listWebhooks = defineCommand({
  ...common,
  path: 'webhooks list',
  summary: 'List webhooks, newest first',
  about:
    "On the server's machine it lists everyone's, or with --org those of one organization or user. Over --url it lists your own.",
  examples: ['webhooks list', 'webhooks list --org acme --json'],
  impact: 'read',
  danger: 'none',
  exits: [3, 4, 7],
  watchable: true,
  flags: pageFlags,
  async run(shell, paging) {
    const { api, whose } = await apiOf(shell)
    await printPages(shell, paging, {
      page: async (order) => {
        const found = expectData(await api.webhooks.get({ query: { ...order, ...whose } }))
        return { items: found.webhooks, next: found.next_cursor }
      },
      columns,
      empty: 'No webhooks. Create one: svc-admin webhooks create URL --events "*"',
    })
  },
})

const getWebhook = defineCommand({
  ...common,
  path: 'webhooks get',
  summary: 'Show one webhook',
  about: 'Shows everything but the secret. A lost secret is replaced with webhooks rotate-secret.',
  examples: ['webhooks get 31aa07c2-…', 'webhooks get 31aa07c2-… --json'],
  impact: 'read',
  danger: 'none',
  exits: [3, 4, 7],
  watchable: true,
  args,
  async run(shell, { id }) {
    const { hook } = await webhookAt(shell, id)
    shell.print.item(expectData(await hook.get()), columns)
  },
})

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
  exits: [3, 4, 5, 7, 10],
  args: { address: argument('address that receives the events') },
  flags: {
    events: list('A,B', 'names, families such as job.*, or *'),
    description: text('TEXT', 'what it is for'),
    ordered: flag('one delivery at a time, in order'),
    fromFile: text('FILE', 'a file with the secret to use; - is stdin'),
    ...SECRET_FLAGS,
  },
  async run(shell, { address, events = ['*'], description, ordered, fromFile, ...ways }) {
    if (shell.planned(`create a webhook at ${address} for ${events.join(', ')}`)) return
    const given = fromFile === undefined ? {} : await secretIn(shell, fromFile)
    const outlet = prepareSecret(shell, 'signing_secret', ways, SIGNING_FATE)
    try {
      const { api, whose } = await apiOf(shell)
      const order = {
        url: address,
        event_types: events,
        ...given,
        ...(description === undefined ? {} : { description }),
        ...(ordered ? { ordered } : {}),
      }
      const headers = { 'idempotency-key': shell.globals.idempotencyKey ?? randomBase62(24) }
      outlet.deliver(expectData(await api.webhooks.post(order, { query: whose, headers })), columns)
    } catch (error) {
      outlet.abandon()
      throw error
    }
  },
})

const secretIn = async (shell: Shell, fromFile: string) => ({
  secret: await readSecretInput(shell, { label: 'secret', fromFile, instead: 'leave out --from-file' }),
})

const updateWebhook = defineCommand({
  ...common,
  path: 'webhooks update',
  summary: 'Change the address, the events or the description of a webhook',
  about: 'What is left out stays. What waits to be delivered goes to the new address.',
  examples: ['webhooks update 31aa07c2-… --events "job.*"', 'webhooks update 31aa07c2-… --to https://example.com/new'],
  impact: 'write',
  danger: 'none',
  exits: [3, 4, 5, 7, 10],
  args,
  flags: {
    to: text('URL', 'the new address'),
    events: list('A,B', 'names, families such as job.*, or *'),
    description: text('TEXT', 'what it is for'),
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

const enabling = (verb: 'enable' | 'disable', about: string) =>
  defineCommand({
    ...common,
    path: `webhooks ${verb}`,
    summary: verb === 'enable' ? 'Have a webhook receive events again' : 'Have a webhook receive nothing for now',
    about,
    examples: [`webhooks ${verb} 31aa07c2-…`, `webhooks ${verb} 31aa07c2-… --json`],
    impact: 'write',
    danger: 'none',
    exits: [3, 4, 5, 7, 10],
    args,
    async run(shell, { id }) {
      if (shell.planned(`${verb} webhook ${id}`)) return
      const { hook } = await webhookAt(shell, id)
      shell.print.item(expectData(await hook.patch({ enabled: verb === 'enable' })), columns)
      const undo = verb === 'enable' ? 'disable' : 'enable'
      shell.note(`${verb}d webhook ${id} (undo: svc-admin webhooks ${undo} ${id})`)
    },
  })

const deleted = [column('deleted', 'DELETED', { kind: 'flag' })]

const deleteWebhook = defineCommand({
  ...common,
  columns: deleted,
  path: 'webhooks delete',
  summary: 'Delete a webhook with what it waits to deliver and its log',
  about: 'Cannot be undone. The gentler way is webhooks disable.',
  examples: ['webhooks delete 31aa07c2-…', 'webhooks delete 31aa07c2-… --yes --json'],
  impact: 'write',
  danger: 'moderate',
  exits: [3, 4, 7, 10],
  args,
  async run(shell, { id }) {
    if (shell.planned(`delete webhook ${id} and its log`)) return
    shell.confirm(`Delete webhook ${id} and its log? This cannot be undone.`)
    const { hook } = await webhookAt(shell, id)
    shell.print.item(expectData(await hook.delete()), deleted)
  },
})

export const webhookCommands = [
  listWebhooks,
  getWebhook,
  createWebhook,
  updateWebhook,
  enabling('enable', 'Resets the count of failures. What was missed meanwhile is not sent again by itself.'),
  enabling('disable', 'What waits to be delivered to it is dropped.'),
  deleteWebhook,
]
