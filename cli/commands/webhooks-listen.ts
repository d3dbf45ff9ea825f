import { createOutbound } from '../../src/kernel/outbound'
import type { Taken } from '../../src/webhooks/schema'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { EXIT, expectData, usageFailure } from '../failure'
import { formatOf } from '../globals'
import { column } from '../output/columns'
import { safeJson } from '../output/json'
import { isStructured } from '../output/print'
import type { Shell } from '../shell'
import { webhookAt } from '../webhook-at'
import { flag, list, text } from '../words'

type Delivery = Taken['deliveries'][number]
type Done = { event_id: Delivery['event_id']; http_status: number | null; duration_ms: number }

const LISTEN = 'listen:'
const WAIT_S = 10
const TIMEOUT_MS = 15_000
const MAX_BYTES = 64 * 1024
/** Where deliveries may be passed on to: this machine. */
const HERE = ['127.0.0.0/8', '::1/128']
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]'])

const columns = [
  column('event_type', 'EVENT'),
  column('event_id', 'EVENT ID', { keep: true }),
  column('http_status', 'HTTP', { kind: 'number', min: true }),
  column('duration_ms', 'MS', { kind: 'number', min: true }),
  column('body', 'BODY', { wide: true }),
]

const listen = defineCommand({
  apis: ['tenant', 'operator'],
  offline: false,
  columns,
  path: 'webhooks listen',
  summary: 'Receive deliveries in this terminal, without a public address',
  about:
    'Creates a webhook that exists while this command runs, and prints its deliveries. With --forward-to each delivery is posted to an address of this machine, with the usual signature. The log shows the status, and failed deliveries are not sent again.',
  examples: [
    'webhooks listen --events "job.*" --print-body',
    'webhooks listen --forward-to http://127.0.0.1:3000/hook --print-secret',
  ],
  impact: 'write',
  exits: [3, 5],
  flags: {
    events: list('A,B', 'names, families such as job.*, or *; everything by default'),
    forwardTo: text('URL', 'an address of this machine that gets each delivery'),
    printSecret: flag('print the signing secret'),
    printBody: flag('print the body of each delivery'),
  },
  async run(shell, { events = ['*'], forwardTo, printSecret, printBody }) {
    const pass = forwardTo === undefined ? null : forwarding(forwardTo)
    if (shell.planned(`listen for ${events.join(', ')}`)) return
    const { api, ownerFilter } = await apiOf(shell)
    const input = { url: LISTEN, event_types: events, description: 'svc-admin webhooks listen' }
    const { id, signing_secret } = expectData(await api.webhooks.post(input, { query: ownerFilter }))
    const { hook } = await webhookAt(shell, id)
    try {
      shell.note(`Listening for ${events.join(', ')} as webhook ${id}. Stop with Ctrl-C.`)
      if (printSecret) shell.note(`Signing secret: ${signing_secret}`)
      const show = printer(shell, printBody)
      let done: Done[] = []
      let shown = 0
      while (!shell.signal.aborted) {
        const { deliveries } = await taken(shell, () => hook.listener.put({ done, wait_seconds: WAIT_S }))
        done = []
        for (const delivery of deliveries) {
          const result = pass ? await pass(shell, delivery) : { http_status: null, duration_ms: 0 }
          done.push({ event_id: delivery.event_id, ...result })
          show(delivery, result)
        }
        shown += deliveries.length
      }
      if (done.length) await hook.listener.put({ done })
      shell.note(`${shown} ${shown === 1 ? 'delivery was' : 'deliveries were'} shown.`)
      shell.exitCode = EXIT.interrupted
    } finally {
      await hook.delete()
    }
  },
})

/** What came, or nothing when the command was stopped meanwhile. */
async function taken(shell: Shell, ask: () => Promise<Parameters<typeof expectData<Taken>>[0]>): Promise<Taken> {
  const stopped = new Promise<null>((resolve) => {
    shell.signal.addEventListener('abort', () => resolve(null), { once: true })
  })
  const reply = await Promise.race([ask(), stopped])
  return reply === null ? { deliveries: [] } : expectData(reply)
}

type Result = Omit<Done, 'event_id'>

/** Posts deliveries to an address of this machine. @throws CommandFailed 2 for another address */
function forwarding(to: string): (shell: Shell, delivery: Delivery) => Promise<Result> {
  const outbound = createOutbound({ allow: HERE })
  if (!URL.canParse(to) || !LOOPBACK.has(new URL(to).hostname)) {
    throw usageFailure(`"${to}" is not an address of this machine.`, '--forward-to http://127.0.0.1:3000/hook')
  }
  return async (shell, { headers, body }) => {
    const began = shell.clock.monotonic()
    const sent = { ...headers, 'content-type': 'application/json', 'user-agent': 'svc-webhooks/1' }
    const request = { method: 'POST' as const, headers: sent, body, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS }
    const status = await outbound
      .fetchPublic(to, { ...request, statusOnly: true })
      .then((answer) => answer.status)
      .catch((error: Error) => {
        shell.note(`${to} did not answer: ${error.message}`)
        return UNREACHED
      })
    return { http_status: status, duration_ms: Math.round(shell.clock.monotonic() - began) }
  }
}

/** What the log says when nothing answered here. */
const UNREACHED = 599

function printer(shell: Shell, withBody: boolean) {
  const asJson = isStructured(formatOf(shell.globals)) || !shell.io.outIsTty
  const feed = asJson ? null : shell.print.feed(columns)
  return ({ event_id, event_type, headers, body }: Delivery, result: Result): void => {
    const item = { event_id, event_type, ...result, ...(withBody || asJson ? { body } : {}) }
    if (feed) feed([item])
    else shell.io.out(safeJson({ ...item, headers }))
    if (feed && withBody) shell.io.out(body)
  }
}

export const webhookListenCommands = [listen]
