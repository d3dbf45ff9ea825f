const SKEW_S = 300

type Delivery = {
  /** The body as it came, before it is parsed. */
  body: string | Uint8Array
  headers: Headers | Record<string, string | string[] | undefined>
  /** The secret of the webhook, as it was shown. */
  secret: string
  /** Epoch ms; now by default. */
  now?: number
}

/**
 * The event of a webhook delivery, once its signature is proved (contract 14.3). Throws when it was not signed with this
 * secret, or more than five minutes ago.
 */
export async function verifyWebhook({ body, headers, secret, now = Date.now() }: Delivery): Promise<unknown> {
  const read = (name: string) => (headers instanceof Headers ? headers.get(name) : one(headers, name))
  const timestamp = read('svc-webhook-timestamp') ?? ''
  const given = /^v1=([0-9a-f]{64})$/.exec(read('svc-webhook-signature') ?? '')?.[1]
  if (!given || !/^\d{1,12}$/.test(timestamp)) throw new Error('The delivery is not signed.')
  if (!secret) throw new Error('The secret of the webhook is missing.')
  const ageS = now / 1_000 - Number(timestamp)
  if (ageS > SKEW_S) throw new Error('The delivery is older than five minutes.')
  if (ageS < -SKEW_S) throw new Error('The delivery is from the future: this clock is more than five minutes behind.')
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const encoder = new TextEncoder()
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ])
  const bytes = Uint8Array.from(given.match(/../g)!, (pair) => Number.parseInt(pair, 16))
  // `verify` compares in constant time.
  const fits = await crypto.subtle.verify('HMAC', key, bytes, encoder.encode(`${timestamp}.${text}`))
  if (!fits) throw new Error('The signature does not belong to this body and secret.')
  return JSON.parse(text)
}

function one(headers: Record<string, string | string[] | undefined>, name: string): string | null {
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return (Array.isArray(found) ? found[0] : found) ?? null
}
