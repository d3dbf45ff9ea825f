import { SAMPLES } from '../../src/events/schema'
import { iso } from '../../src/kernel/clock'
import { apiOf, columnsOf, commandsOf, defined } from '../command'
import { CheckFailed, expectData, notFoundFailure, usageFailure } from '../failure'
import { exactly } from '../files'
import { poll } from '../pages'
import { everyOf, itemArgument, itemFlag, resourceOver } from '../resource'
import { readSecretInput, SIGNING_FATE } from '../secret'
import type { Shell } from '../shell'
import { argument, duration, flag, list, optional, repeated, text } from '../words'
import { switchCommands } from './resource-commands'

/** The routes of one webhook. */
export const webhookAt = async (shell: Shell, id: string) => (await apiOf(shell)).api.webhooks({ id })

/** The ids of all webhooks that the credential reaches. */
export const webhookIds = async (shell: Shell): Promise<string[]> =>
  (await everyOf(await resourceOver(shell, 'webhooks'))).map(({ id }) => id)

const webhookColumns = columnsOf`
  id, url URL, event_types EVENTS list, enabled ENABLED flag, failure_count FAILURES number min,
  last_delivered_at DELIVERED time, disabled_reason WHY wide, description DESCRIPTION wide,
  ordered ORDERED flag wide, org_id ORG wide, created_at CREATED time wide`

export const deliveryColumns = columnsOf`
  id, event_type EVENT, status STATUS, http_status HTTP number, error_message WHY, attempt TRY number,
  duration_ms MS number min, created_at AT time, next_retry_at NEXT time min, event_id EVENT ID wide,
  webhook_id WEBHOOK wide`

const WEBHOOK = 'id of the webhook, or the start of it'
const args = { id: itemArgument('webhooks', 'webhook') }
const ID = '31aa07c2-…'
const command = commandsOf('webhooks', { apis: ['tenant', 'operator'], columns: webhookColumns, args })

const plain = switchCommands({
  path: 'webhooks',
  resource: 'webhooks',
  what: 'webhook',
  columns: webhookColumns,
  id: ID,
  first: 'create URL --events "*"',
  shown: 'Shows everything except the secret. To replace a lost secret, use webhooks rotate-secret.',
  switched: (enabled) => ({ enabled }),
  enable: ['Enable a webhook', 'Resets the count of failures. Events from the time it was disabled are not sent.'],
  disable: ['Disable a webhook', 'Its pending deliveries are dropped.'],
  along: ' with its pending deliveries and log',
})

const DAY_MS = 86_400_000
const POLL_MS = 250
const PATIENCE_MS = 20_000

export const webhookCommands = [
  plain.list,
  plain.get,
  command`create (secret once, delivers signing_secret): Create a webhook and show its signing secret once
  The address must be public, and https in production. Without --events it receives everything. The secret is random, or the one in --from-file.
  $ webhooks create https://example.com/hook --events job.completed,job.failed
  $ webhooks create https://example.com/hook -q --secret-to hook.secret`({
    args: { address: argument('the address that receives the events') },
    flags: {
      events: list('A,B', 'names, families such as job.*, or *'),
      description: text('TEXT', 'a description'),
      ordered: flag('one delivery at a time, in order'),
      fromFile: text('FILE', 'a file with the secret to use; - reads stdin'),
    },
    action: ({ address, events = ['*'] }) => `create a webhook at ${address} for ${events.join(', ')}`,
    fate: SIGNING_FATE,
    async request({ api, ownerFilter, headers, shell }, { address, events = ['*'], description, ordered, fromFile }) {
      const label = { label: 'secret', fromFile, instead: 'leave out --from-file' }
      const secret = fromFile === undefined ? undefined : await readSecretInput(shell, label)
      const input = { url: address, event_types: events, secret, description, ordered: ordered || undefined }
      return api.webhooks.post(defined(input), { query: ownerFilter, headers })
    },
  }),
  command`update ID: Change the address, the events or the description of a webhook
  Settings that you do not name stay the same. Pending deliveries go to the new address.
  $ webhooks update ${ID} --events "job.*"
  $ webhooks update ${ID} --to https://example.com/new`({
    flags: {
      to: text('URL', 'the new address'),
      events: list('A,B', 'names, families such as job.*, or *'),
      description: text('TEXT', 'a description'),
    },
    action: ({ id, ...patch }) => `change ${Object.keys(patchOf(patch)).join(', ') || 'nothing'} of webhook ${id}`,
    request: ({ api }, { id, ...patch }) => api.webhooks({ id }).patch(patchOf(patch)),
  }),
  plain.enable,
  plain.disable,
  plain.remove,
  command`test ID (live, exits 3 5 6 8 9): Send a test event and wait for the result
  Exits 9 when the delivery fails, and 8 when there is no result in time. With --no-wait it only sends.
  $ webhooks test 31aa07c2-…
  $ webhooks test 31aa07c2-… --within 5s --json`({
    columns: deliveryColumns,
    flags: { within: duration('TIME', 'longest wait; 20s by default'), noWait: flag('do not wait') },
    action: ({ id }) => `send a test event to webhook ${id}`,
    async run(shell, { id, within = PATIENCE_MS, noWait }) {
      const hook = await webhookAt(shell, id)
      const { event_id } = expectData(await hook.test.post())
      shell.note(`Sent ${event_id}.`)
      if (noWait) return
      const found = await poll(shell, { within, every: POLL_MS }, async () => {
        return expectData(await hook.deliveries.get({ query: {} })).deliveries.find((one) => one.event_id === event_id)
      })
      if (!found) return shell.note(`No result yet. See: svc-admin deliveries list --webhook ${id}`)
      shell.print.item(found, deliveryColumns)
      if (found.status === 'failed') throw new CheckFailed()
    },
  }),
  command`retry-failed ID (moderate): Send again all events of a time that a webhook did not take
  At most 10,000 events, ten a second, whose last attempt failed and that no attempt follows. To choose single ones, use deliveries replay.
  $ webhooks retry-failed 31aa07c2-… --since 24h
  $ webhooks retry-failed 31aa07c2-… --since 2h --yes`({
    columns: columnsOf`queued QUEUED number`,
    flags: { since: duration('TIME', 'from how long ago; 24h by default') },
    action: ({ id }) => `send again what webhook ${id} did not take`,
    request: ({ api, headers, shell }, { id, since = DAY_MS }) =>
      api.webhooks({ id })['retry-failed'].post({ from: iso(shell.clock.now() - since) }, { headers }),
  }),
  command`rotate-secret ID (secret once, delivers signing_secret): Create a new signing secret and show it once
  The old secret stops working at once. With --grace the header webhook-signature also contains a signature with the old secret for that long.
  $ webhooks rotate-secret 31aa07c2-…
  $ webhooks rotate-secret 31aa07c2-… --grace 1h --yes`({
    columns: columnsOf`id ID`,
    flags: { grace: duration('TIME', 'how long to sign with the old secret too, up to 24h') },
    action: ({ id }) => `create a new signing secret for webhook ${id}`,
    question: ({ id, grace }) =>
      `The old secret of webhook ${id} ends ${grace ? 'after the grace period' : 'now'}. Continue?`,
    fate: SIGNING_FATE,
    request: ({ api }, { id, grace }) =>
      api
        .webhooks({ id })
        ['rotate-secret'].post(grace === undefined ? {} : { grace_seconds: Math.round(grace / 1_000) }),
  }),
  command`stats: Show delivery statistics of a webhook
  Counts attempts since the webhook was created, and deliveries that wait. Without an id it counts all webhooks. P95 is of the fifty newest attempts. A webhook is disabled after 120 hours without a success and twenty failures in a row.
  $ webhooks stats
  $ webhooks stats 31aa07c2-… --watch`({
    columns: columnsOf`
      webhook_id WEBHOOK, enabled ENABLED flag, deliveries.total ATTEMPTS number, deliveries.successes SUCCESSES number,
      deliveries.failures FAILURES number, deliveries.success_rate_percent SUCCESS % number,
      deliveries.pending PENDING number, p95_ms P95 MS number, consecutive_failures IN A ROW number,
      last_delivered_at DELIVERED time`,
    args: { id: optional(`${WEBHOOK}; all of yours by default`) },
    async answer({ shell }, { id }) {
      if (id !== undefined) return statsOf(shell, id)
      const found = []
      for (const one of await webhookIds(shell)) found.push(await statsOf(shell, one))
      return found
    },
    empty: 'No webhooks yet.',
  }),
]

type Patch = { to: string | undefined; events: string[] | undefined; description: string | undefined }
const patchOf = ({ to, events, description }: Patch) => defined({ url: to, event_types: events, description })

async function statsOf(shell: Shell, id: string) {
  const hook = await webhookAt(shell, id)
  const stats = expectData(await hook.stats.get())
  const { deliveries } = expectData(await hook.deliveries.get({ query: {} }))
  const took = deliveries.map(({ duration_ms }) => duration_ms).sort((a, b) => a - b)
  return { ...stats, p95_ms: took[Math.ceil(took.length * 0.95) - 1] ?? null }
}

const sampleOf = (type: string) => (SAMPLES as Readonly<Record<string, { about: string; data: object }>>)[type]

async function targetOf(shell: Shell, id: string | undefined): Promise<{ id: string; url: string }> {
  if (id !== undefined) return expectData(await (await webhookAt(shell, id)).get())
  const { api, ownerFilter } = await apiOf(shell)
  const { webhooks } = expectData(await api.webhooks.get({ query: { limit: 100, ...ownerFilter } }))
  const enabled = webhooks.filter(({ enabled }) => enabled)
  const found = enabled.find(({ url }) => url === 'listen:') ?? (enabled.length === 1 ? enabled[0] : undefined)
  if (found) return found
  if (enabled.length) throw usageFailure('There is more than one webhook.', '--webhook ID')
  throw notFoundFailure('There is no enabled webhook.', 'svc-admin webhooks listen')
}

/** Sets members by path. @throws CommandFailed 2 for a word that is not MEMBER=VALUE */
function changed(data: Record<string, unknown>, set: readonly string[]): Record<string, unknown> {
  for (const one of set) {
    const found = /^(?:data\.)?(\w{1,64}(?:\.\w{1,64}){0,9})=(.*)$/s.exec(one)
    if (!found) throw usageFailure(`"${one}" is not MEMBER=VALUE.`, '--set amount=5')
    const path = found[1]!.split('.')
    if (path.includes('__proto__')) throw usageFailure('A member cannot be called __proto__.', '--set amount=5')
    let at = data
    for (const member of path.slice(0, -1)) {
      const inner = Object.hasOwn(at, member) ? at[member] : undefined
      const next = inner !== null && typeof inner === 'object' ? (inner as Record<string, unknown>) : {}
      at[member] = next
      at = next
    }
    at[path.at(-1)!] = readValue(found[2]!)
  }
  return data
}

function readValue(word: string): unknown {
  try {
    return exactly(word, JSON.parse(word))
  } catch {
    return word
  }
}

const sampleColumns = columnsOf`
  type EVENT keep, about WHEN, data DATA wide ${({ data }) => JSON.stringify(data ?? null)}`
const samples = Object.entries(SAMPLES).map(([type, { about, data }]) => ({ type, about, data }))

export const webhookTriggerCommands = [
  command`trigger (exits 3 5 6): Send an event with example data to one webhook
  The data contains _test. Without --webhook it goes to the newest webhook of webhooks listen, or to the only one. No other webhook gets it.
  $ webhooks trigger job.completed --webhook 31aa07c2-…
  $ webhooks trigger order.created --set amount=5 --set customer.name=Ada --json`({
    columns: columnsOf`event_id EVENT keep, event_type TYPE, webhook_id WEBHOOK, url URL`,
    args: { type: argument('name of the event; webhooks events lists those of the server') },
    flags: {
      webhook: itemFlag('webhooks', WEBHOOK),
      set: repeated('MEMBER=VALUE', 'a member of its data, as JSON or text; the prefix data. is optional'),
    },
    find: async (_, { type, set = [] }) => ({
      data: changed(structuredClone(sampleOf(type)?.data ?? {}) as Record<string, unknown>, set),
    }),
    action: ({ type, webhook }) => `send an example of ${type} to ${webhook ?? 'a webhook'}`,
    async answer({ shell }, { type: event_type, webhook, data }) {
      const { id, url } = await targetOf(shell, webhook)
      const { event_id } = expectData(await (await webhookAt(shell, id)).test.post({ event_type, data }))
      return { event_id, event_type, webhook_id: id, url }
    },
  }),
  command`events (host): List the events of the server, each with example data
  With --sample it prints the data of one, as JSON.
  $ webhooks events
  $ webhooks events --sample job.completed`({
    columns: sampleColumns,
    flags: { sample: text('TYPE', 'only this one, as JSON') },
    async run(shell, { sample }) {
      if (sample === undefined) return shell.print.list(samples, sampleColumns, 'None.')
      const found = sampleOf(sample)
      if (!found) throw notFoundFailure(`The server has no event ${sample}.`, 'svc-admin webhooks events')
      shell.io.out(JSON.stringify(found.data, null, 2))
    },
  }),
]
