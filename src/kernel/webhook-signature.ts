import { createHmac } from 'node:crypto'
import { hmacHex } from './crypto'

export type Signed = {
  /** Unique to what is sent, the same in every attempt to send it. */
  id: string
  /** Unix seconds of this attempt. */
  timestampS: number
  /** The bytes that are sent. */
  body: string
  /** Used as it is written, not decoded. */
  secret: string
}

/**
 * The headers by which a receiver knows that this server sent a body: the service's own three (contract
 * 14.3) and, where the secret is of a length they allow, those of Standard Webhooks (reliability 6).
 */
export function signatureHeaders({ id, timestampS, body, secret }: Signed): Record<string, string> {
  const timestamp = String(timestampS)
  const own = {
    'svc-webhook-id': id,
    'svc-webhook-timestamp': timestamp,
    'svc-webhook-signature': `v1=${hmacHex(secret, `${timestamp}.${body}`)}`,
  }
  const length = Buffer.byteLength(secret)
  if (length < 24 || length > 64) return own
  const standard = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { ...own, 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${standard}` }
}
