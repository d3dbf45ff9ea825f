import { timingSafeEqual } from '../../src/kernel/crypto'
import { createOutbound } from '../../src/kernel/outbound'
import { counted } from '../../src/kernel/text'
import { signatureHeaders } from '../../src/kernel/webhook-signature'
import type { Taken } from '../../src/webhooks/schema'
import { apiOf, columnsOf, commandsOf } from '../command'
import { EXIT, expectData, usageFailure } from '../failure'
import { readTextFile } from '../files'
import { jsonIn } from '../output/json'
import { aborted, feedOf, feedsJson } from '../pages'
import { readSecretInput } from '../secret'
import type { Shell } from '../shell'
import { argument, flag, list, text, whole } from '../words'
import { webhookAt } from './webhooks'

const headerColumns = columnsOf`
  svc-webhook-id svc-webhook-id, svc-webhook-timestamp svc-webhook-timestamp,
  svc-webhook-signature svc-webhook-signature, webhook-id webhook-id, webhook-timestamp webhook-timestamp,
  webhook-signature webhook-signature`
const MAX_SKEW_S = 300
const args = { body: argument('file with the body exactly as it was sent; - reads stdin') }
const secretFile = text('FILE', 'a file that contains the signing secret')

const secretOf = (shell: Shell, fromFile: string | undefined) =>
  readSecretInput(shell, { label: 'signing secret', fromFile, instead: '--secret-file FILE' })

const command = commandsOf('webhooks', { apis: ['host'], args })

type Delivered = { body: string; secret: string; timestamp: number; signature: string; nowS: number }

/**
 * The first problem of a signature, as a sentence. Null for a good one (docs/attacks.md J37). Of several signatures,
 * for example during a rotation, one must be good.
 */
export function wrongWith({ body, secret, timestamp, signature, nowS }: Delivered): string | null {
  if (!/^v1[=,]/.test(signature)) return 'The signature does not start with v1= or v1,.'
  const isStandard = signature.startsWith('v1,')
  if (!isStandard && !/^v1=[0-9a-f]{64}$/.test(signature)) {
    return 'The signature is not v1= and 64 lower-case hexadecimal digits.'
  }
  const header = isStandard ? 'webhook-signature' : 'svc-webhook-signature'
  const id = isStandard ? idIn(body) : ''
  const isGood = (text: string) => {
    const good = signatureHeaders({ id, timestampS: timestamp, body: text, secret })[header]
    return good !== undefined && signature.split(' ').some((given) => timingSafeEqual(good, given))
  }
  if (!isGood(body)) {
    if (isGood(body.trimEnd())) return 'The body ends with a line break that was not sent.'
    if (isGood(JSON.stringify(jsonIn(body)) ?? '')) return 'The body was parsed and serialized again.'
    return 'The body, the timestamp or the secret differs from what was signed.'
  }
  const skewS = Math.round(Math.abs(nowS - timestamp))
  return skewS > MAX_SKEW_S
    ? `The signature is correct, but ${skewS} seconds away from now; receivers allow ${MAX_SKEW_S}.`
    : null
}

function idIn(body: string): string {
  const { id } = (jsonIn(body) ?? {}) as { id?: unknown }
  if (typeof id !== 'string') throw usageFailure('The body has no "id".', '--id ID')
  return id
}

type Delivery = Taken['deliveries'][number]
type Done = { event_id: Delivery['event_id']; http_status: number | null; duration_ms: number }

const LISTEN = 'listen:'
const WAIT_S = 10
const TIMEOUT_MS = 15_000
const MAX_BYTES = 64 * 1024
/** Addresses that deliveries may be forwarded to: this machine. */
const HERE = ['127.0.0.0/8', '::1/128']
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]'])

const columns = columnsOf`
  event_type EVENT, event_id EVENT ID keep, http_status HTTP number min, duration_ms MS number min, body BODY wide`

/** Posts deliveries to an address of this machine. @throws CommandFailed 2 for another address */
function forwarding(to: string): (shell: Shell, delivery: Delivery) => Promise<Omit<Done, 'event_id'>> {
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

/** Status in the log when the local address did not answer. */
const UNREACHED = 599

export const webhookLocalCommands = [
  command`sign BODY (exits): Sign a body like a delivery, to test a receiver
  Prints the headers and sends nothing. The id comes from the body, or from --id.
  $ webhooks sign body.json --secret-file hook.secret
  $ webhooks sign - --secret-file hook.secret --json`({
    flags: {
      secretFile,
      id: text('ID', 'id of the event; from the body by default'),
      timestamp: whole('SECONDS', 'Unix time; now by default', { min: 0, max: 99_999_999_999 }),
    },
    async run(shell, { body: file, secretFile: from, id, timestamp }) {
      const body = await readTextFile(shell, file)
      const secret = await secretOf(shell, from)
      const timestampS = timestamp ?? Math.floor(shell.clock.now() / 1_000)
      shell.print.item(signatureHeaders({ id: id ?? idIn(body), timestampS, body, secret }), headerColumns)
    },
  }),
  command`verify BODY (exits 9): Check the signature of a delivery, and name the first problem
  Needs the body and two headers of the delivery: those of svc or of Standard Webhooks. Exits 9 when the signature is wrong. A body that was parsed and serialized again has different bytes.
  $ webhooks verify body.json --secret-file hook.secret --timestamp 1767225600 --signature v1=acfe…
  $ webhooks verify - --secret-file hook.secret --timestamp 1767225600 --signature v1,MZua… --json`({
    columns: columnsOf`ok VERIFIED flag, why WHY`,
    flags: {
      secretFile,
      timestamp: whole('SECONDS', 'the Svc-Webhook-Timestamp or Webhook-Timestamp', { min: 0, max: 99_999_999_999 }),
      signature: text('TEXT', 'the header Svc-Webhook-Signature or Webhook-Signature'),
    },
    async answer({ shell }, { body: file, secretFile: from, timestamp, signature }) {
      if (timestamp === undefined || signature === undefined)
        throw usageFailure('webhooks verify needs --timestamp and --signature.', 'both are headers of the delivery')
      const body = await readTextFile(shell, file)
      const secret = await secretOf(shell, from)
      const why = wrongWith({ body, secret, timestamp, signature, nowS: shell.clock.now() / 1_000 })
      return { ok: why === null, why }
    },
    ok: ({ ok }) => ok,
  }),
  command`listen (tenant, operator, live): Receive deliveries in this terminal, without a public address
  Creates a webhook that exists while this command runs, and prints its deliveries. With --forward-to each delivery is posted to an address of this machine, with the usual signature. The log shows the status, and failed deliveries are not sent again.
  $ webhooks listen --events "job.*" --print-body
  $ webhooks listen --forward-to http://127.0.0.1:3000/hook --print-secret`({
    columns,
    flags: {
      events: list('A,B', 'names, families such as job.*, or *; everything by default'),
      forwardTo: text('URL', 'an address of this machine that gets each delivery'),
      printSecret: flag('print the signing secret'),
      printBody: flag('print the body of each delivery'),
    },
    find: async (_, { forwardTo }) => ({ pass: forwardTo === undefined ? null : forwarding(forwardTo) }),
    action: ({ events = ['*'] }) => `listen for ${events.join(', ')}`,
    async run(shell, { events = ['*'], pass, printSecret, printBody }) {
      const { api, ownerFilter } = await apiOf(shell)
      const input = { url: LISTEN, event_types: events, description: 'svc-admin webhooks listen' }
      const { id, signing_secret } = expectData(await api.webhooks.post(input, { query: ownerFilter }))
      const hook = await webhookAt(shell, id)
      try {
        shell.note(`Listening for ${events.join(', ')} as webhook ${id}. Stop with Ctrl-C.`)
        if (printSecret) shell.note(`Signing secret: ${signing_secret}`)
        const [asJson, feed] = [feedsJson(shell), feedOf(shell, columns)]
        let done: Done[] = []
        let shown = 0
        while (!shell.signal.aborted) {
          // Undefined when the command was stopped meanwhile.
          const reply = await Promise.race([hook.listener.put({ done, wait_seconds: WAIT_S }), aborted(shell.signal)])
          const { deliveries }: Taken = reply ? expectData(reply) : { deliveries: [] }
          done = []
          for (const delivery of deliveries) {
            const result = pass ? await pass(shell, delivery) : { http_status: null, duration_ms: 0 }
            done.push({ event_id: delivery.event_id, ...result })
            const { event_id, event_type, headers, body } = delivery
            feed([{ event_id, event_type, ...result, ...(asJson ? { body, headers } : {}) }])
            if (printBody && !asJson) shell.io.out(body)
          }
          shown += deliveries.length
        }
        if (done.length) await hook.listener.put({ done })
        shell.note(`${counted(shown, 'delivery was', 'deliveries were')} shown.`)
        shell.exitCode = EXIT.interrupted
      } finally {
        await hook.delete()
      }
    },
  }),
]
