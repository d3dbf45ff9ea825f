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

/** What libraries of Standard Webhooks decode: base64 after a prefix, whose padding may be left out. */
const ENCODED = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?)$/

/**
 * The event of a webhook delivery, once a signature of it is proved (docs/api.md 14.3): that of
 * `Svc-Webhook-Signature`, or one in `Webhook-Signature`, which is also made with the secret before a rotation while
 * there is grace. Throws when no signature is by this secret, and for a delivery that was signed more than five minutes
 * ago.
 */
export async function verifyWebhook({ body, headers, secret, now = Date.now() }: Delivery): Promise<unknown> {
  const read = (name: string) => (headers instanceof Headers ? headers.get(name) : one(headers, name))
  const timestamp = read('svc-webhook-timestamp') ?? read('webhook-timestamp') ?? ''
  const own = /^v1=([0-9a-f]{64})$/.exec(read('svc-webhook-signature') ?? '')?.[1]
  const standard = (read('webhook-signature') ?? '').matchAll(/(?<!\S)v1,([A-Za-z0-9+/]{43}=)(?!\S)/g)
  const others = [...standard].map(([, given]) => bytesOf(given!))
  if ((!own && !others.length) || !/^\d{1,12}$/.test(timestamp)) throw new Error('The delivery is not signed.')
  if (!secret) throw new Error('The secret of the webhook is missing.')
  const ageS = now / 1_000 - Number(timestamp)
  if (ageS > SKEW_S) throw new Error('The delivery is older than five minutes.')
  if (ageS < -SKEW_S) throw new Error('The delivery is from the future: this clock is more than five minutes behind.')
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const key = encoder.encode(secret)
  const ownBytes = own ? [Uint8Array.from(own.match(/../g)!, (pair) => Number.parseInt(pair, 16))] : []
  const encoded = ENCODED.exec(secret)?.[1]
  const fits =
    (await isSigned(key, `${timestamp}.${text}`, ownBytes)) ||
    (await isSigned(encoded ? bytesOf(encoded) : key, `${read('webhook-id')}.${timestamp}.${text}`, others))
  if (!fits) throw new Error('The signature does not belong to this body and secret.')
  return JSON.parse(text)
}

const encoder = new TextEncoder()
const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (one) => one.charCodeAt(0))

/** Whether one of the signatures is by this key. `verify` compares in constant time. */
async function isSigned(bytes: Uint8Array<ArrayBuffer>, text: string, signatures: Uint8Array<ArrayBuffer>[]) {
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
  const data = encoder.encode(text)
  const fits = await Promise.all(signatures.map((signature) => crypto.subtle.verify('HMAC', key, signature, data)))
  return fits.includes(true)
}

function one(headers: Record<string, string | string[] | undefined>, name: string): string | null {
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return (Array.isArray(found) ? found[0] : found) ?? null
}
