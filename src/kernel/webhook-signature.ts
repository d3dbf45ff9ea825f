import { createHmac } from 'node:crypto'
import { hmacHex } from './crypto'

export type Signed = {
  /** Id of the message, the same in every attempt to deliver it. */
  id: string
  /** Unix seconds of this attempt. */
  timestampS: number
  /** The bytes that are sent. */
  body: string
  /** The HMAC key: the characters as written, not decoded. */
  secret: string
  /** The one before it, while a rotation leaves time: Standard Webhooks has a signature of each (contract 14.3). */
  previous?: string | undefined
}

/**
 * The headers by which a receiver verifies that this server sent the body: our own three and, for
 * secrets of 24 to 64 bytes, those of Standard Webhooks (contract 14.3).
 */
export function signatureHeaders({ id, timestampS, body, secret, previous }: Signed): Record<string, string> {
  const timestamp = String(timestampS)
  const own = {
    'svc-webhook-id': id,
    'svc-webhook-timestamp': timestamp,
    'svc-webhook-signature': `v1=${hmacHex(secret, `${timestamp}.${body}`)}`,
  }
  const fitting = [secret, previous].filter((one) => one !== undefined && isStandard(one)) as string[]
  if (!fitting.length) return own
  const signatures = fitting.map(
    (one) => `v1,${createHmac('sha256', one).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  )
  return { ...own, 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

const isStandard = (secret: string): boolean => {
  const length = Buffer.byteLength(secret)
  return length >= 24 && length <= 64
}
