import { timingSafeEqual } from '../../src/kernel/crypto'
import { signatureHeaders } from '../../src/kernel/webhook-signature'
import { defineCommand } from '../command'
import { CheckFailed, usageFailure } from '../failure'
import { column } from '../output/columns'
import { readTextFile } from '../preference-file'
import { readSecretInput } from '../secret-input'
import { argument, text, whole } from '../words'

const headerColumns = [
  column('svc-webhook-id', 'svc-webhook-id'),
  column('svc-webhook-timestamp', 'svc-webhook-timestamp'),
  column('svc-webhook-signature', 'svc-webhook-signature'),
  column('webhook-id', 'webhook-id'),
  column('webhook-timestamp', 'webhook-timestamp'),
  column('webhook-signature', 'webhook-signature'),
]
const MAX_SKEW_S = 300
const args = { body: argument('file with the body exactly as it was sent; - reads stdin') }
const secretFile = text('FILE', 'a file that contains the signing secret')
const common = { apis: ['host'], impact: 'read', args } as const

const secretOf = (shell: Parameters<typeof readSecretInput>[0], fromFile: string | undefined) =>
  readSecretInput(shell, { label: 'signing secret', fromFile, instead: '--secret-file FILE' })

const signBody = defineCommand({
  ...common,
  path: 'webhooks sign',
  summary: 'Sign a body like a delivery, to test a receiver',
  about: 'Prints the headers and sends nothing. The id comes from the body, or from --id.',
  examples: ['webhooks sign body.json --secret-file hook.secret', 'webhooks sign - --secret-file hook.secret --json'],
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
})

const verdictColumns = [column('ok', 'VERIFIED', { kind: 'flag' }), column('why', 'WHY')]

const verifyBody = defineCommand({
  ...common,
  columns: verdictColumns,
  path: 'webhooks verify',
  summary: 'Check the signature of a delivery, and name the first problem',
  about:
    'Needs the body and two headers of the delivery: those of svc or of Standard Webhooks. Exits 9 when the signature is wrong. A body that was parsed and serialized again has different bytes.',
  examples: [
    'webhooks verify body.json --secret-file hook.secret --timestamp 1767225600 --signature v1=acfe…',
    'webhooks verify - --secret-file hook.secret --timestamp 1767225600 --signature v1,MZua… --json',
  ],
  exits: [9],
  flags: {
    secretFile,
    timestamp: whole('SECONDS', 'the Svc-Webhook-Timestamp or Webhook-Timestamp', { min: 0, max: 99_999_999_999 }),
    signature: text('TEXT', 'the header Svc-Webhook-Signature or Webhook-Signature'),
  },
  async run(shell, { body: file, secretFile: from, timestamp, signature }) {
    if (timestamp === undefined || signature === undefined) {
      throw usageFailure('webhooks verify needs --timestamp and --signature.', 'both are headers of the delivery')
    }
    const body = await readTextFile(shell, file)
    const secret = await secretOf(shell, from)
    const why = wrongWith({ body, secret, timestamp, signature, nowS: shell.clock.now() / 1_000 })
    shell.print.item({ ok: why === null, why }, verdictColumns)
    if (why !== null) throw new CheckFailed()
  },
})

type Delivered = { body: string; secret: string; timestamp: number; signature: string; nowS: number }

/**
 * The first thing that is wrong with a signature, in a sentence; null for a good one (catalogue J37). Of several, as
 * during a rotation, one must be good.
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
    if (isJson(body) && isGood(JSON.stringify(JSON.parse(body)))) return 'The body was parsed and serialized again.'
    return 'The body, the timestamp or the secret differs from what was signed.'
  }
  const skewS = Math.round(Math.abs(nowS - timestamp))
  return skewS > MAX_SKEW_S
    ? `The signature is correct, but ${skewS} seconds away from now; receivers allow ${MAX_SKEW_S}.`
    : null
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function idIn(body: string): string {
  const id = isJson(body) ? (JSON.parse(body) as { id?: unknown } | null)?.id : undefined
  if (typeof id !== 'string') throw usageFailure('The body has no "id".', '--id ID')
  return id
}

export const webhookSignCommands = [signBody, verifyBody]
