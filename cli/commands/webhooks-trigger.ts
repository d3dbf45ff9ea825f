import { SAMPLES } from '../../src/events/schema'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { CommandFailed, EXIT, expectData, usageFailure } from '../failure'
import { column } from '../output/columns'
import { exactly } from '../preference-file'
import type { Shell } from '../shell'
import { webhookAt } from '../webhook-at'
import { argument, repeated, text } from '../words'
import { WEBHOOK } from './webhooks-columns'

const sampleOf = (type: string) => (SAMPLES as Readonly<Record<string, { about: string; data: object }>>)[type]

const triggered = [
  column('event_id', 'EVENT', { keep: true }),
  column('event_type', 'TYPE'),
  column('webhook_id', 'WEBHOOK'),
  column('url', 'URL'),
]

const trigger = defineCommand({
  apis: ['tenant', 'operator'],
  columns: triggered,
  path: 'webhooks trigger',
  summary: 'Send an event with example data to one webhook',
  about:
    'The data contains _test. Without --webhook it goes to the newest webhook of webhooks listen, or to the only one. No other webhook gets it.',
  examples: [
    'webhooks trigger job.completed --webhook 31aa07c2-…',
    'webhooks trigger order.created --set amount=5 --set customer.name=Ada --json',
  ],
  impact: 'write',
  exits: [3, 5, 6],
  args: { type: argument('name of the event; webhooks events lists those of the server') },
  flags: {
    webhook: text('ID', WEBHOOK),
    set: repeated('MEMBER=VALUE', 'a member of its data, as JSON or text; the prefix data. is optional'),
  },
  async run(shell, { type, webhook, set = [] }) {
    const data = changed(structuredClone(sampleOf(type)?.data ?? {}) as Record<string, unknown>, set)
    if (shell.planned(`send an example of ${type} to ${webhook ?? 'a webhook'}`)) return
    const { id, url } = await targetOf(shell, webhook)
    const { hook } = await webhookAt(shell, id)
    const { event_id } = expectData(await hook.test.post({ event_type: type, data }))
    shell.print.item({ event_id, event_type: type, webhook_id: id, url }, triggered)
  },
})

async function targetOf(shell: Shell, id: string | undefined): Promise<{ id: string; url: string }> {
  if (id !== undefined) {
    const { hook } = await webhookAt(shell, id)
    return expectData(await hook.get())
  }
  const { api, ownerFilter } = await apiOf(shell)
  const { webhooks } = expectData(await api.webhooks.get({ query: { limit: 100, ...ownerFilter } }))
  const enabled = webhooks.filter(({ enabled }) => enabled)
  const found = enabled.find(({ url }) => url === 'listen:') ?? (enabled.length === 1 ? enabled[0] : undefined)
  if (found) return found
  if (enabled.length) throw usageFailure('There is more than one webhook.', '--webhook ID')
  throw new CommandFailed({
    exitCode: EXIT.missing,
    code: 'not_found',
    message: 'There is no enabled webhook.',
    fix: 'svc-admin webhooks listen',
  })
}

/** Sets members by path. @throws CommandFailed 2 for what is no MEMBER=VALUE */
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

const sampleColumns = [
  column('type', 'EVENT', { keep: true }),
  column('about', 'WHEN'),
  column('data', 'DATA', { wide: true, show: ({ data }) => JSON.stringify(data ?? null) }),
]
const samples = Object.entries(SAMPLES).map(([type, { about, data }]) => ({ type, about, data }))

const listSamples = defineCommand({
  apis: ['host'],
  columns: sampleColumns,
  path: 'webhooks events',
  summary: 'List the events of the server, each with example data',
  about: 'With --sample it prints the data of one, as JSON.',
  examples: ['webhooks events', 'webhooks events --sample job.completed'],
  impact: 'read',
  exits: [3],
  flags: { sample: text('TYPE', 'only this one, as JSON') },
  async run(shell, { sample }) {
    if (sample === undefined) return shell.print.list(samples, sampleColumns, 'None.')
    const found = sampleOf(sample)
    if (!found)
      throw new CommandFailed({
        exitCode: EXIT.missing,
        code: 'not_found',
        message: `The server has no event ${sample}.`,
        fix: 'svc-admin webhooks events',
      })
    shell.io.out(JSON.stringify(found.data, null, 2))
  },
})

export const webhookTriggerCommands = [trigger, listSamples]
