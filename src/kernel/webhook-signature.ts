import { createHmac } from 'node:crypto'
import { hmacHex, randomBase64 } from './crypto'

export type Signed = {
  /** Id of the message, the same in every attempt to deliver it. */
  id: string
  /** Unix seconds of this attempt. */
  timestampS: number
  /** The exact body that is sent. */
  body: string
  /** The secret as it was shown. */
  secret: string
  /** The previous secret, during a rotation's grace period, when both secrets sign (docs/api.md 14.3). */
  previous?: string | undefined
}

/** A new signing secret in the format of Standard Webhooks: `whsec_` and 32 random bytes in base64. */
export const newWebhookSecret = (): string => `whsec_${randomBase64(32)}`

/**
 * The headers by which a receiver verifies that this server sent the body (docs/api.md 14.3). Our own three are signed
 * with the secret's text. Those of Standard Webhooks are signed with the key as its libraries derive it: the bytes in
 * base64 after `whsec_`, or the text of any other secret of 24 to 64 bytes, which they call raw.
 */
export function signatureHeaders({ id, timestampS, body, secret, previous }: Signed): Record<string, string> {
  const timestamp = String(timestampS)
  const own = {
    'svc-webhook-id': id,
    'svc-webhook-timestamp': timestamp,
    'svc-webhook-signature': `v1=${hmacHex(secret, `${timestamp}.${body}`)}`,
  }
  const keys = [secret, previous].flatMap((one) => (one === undefined ? [] : (standardKey(one) ?? [])))
  if (!keys.length) return own
  const signatures = keys.map(
    (key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  )
  return { ...own, 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

/** Base64 whose padding may be missing, because the libraries accept that. */
const ENCODED = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?)$/

function standardKey(secret: string): Buffer | null {
  const encoded = ENCODED.exec(secret)?.[1]
  if (encoded) return Buffer.from(encoded, 'base64')
  const text = Buffer.from(secret)
  return text.length >= 24 && text.length <= 64 ? text : null
}
