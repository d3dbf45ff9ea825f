import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual as sameBytes } from 'node:crypto'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const DIGITS = Buffer.from(BASE62)

/** `length` random base62 characters. Discards bytes of 248 and up, so that each character is equally likely. */
export function randomBase62(length: number): string {
  const made = Buffer.allocUnsafe(length)
  for (let place = 0; place < length; ) {
    const byte = nextByte()
    if (byte < 248) made[place++] = DIGITS[byte % 62]!
  }
  return made.toString('latin1')
}

/** Random bytes are fetched 4 KiB at a time, because every request needs several ids and each fetch is costly. */
let pool = Buffer.alloc(0)
let taken = 0

function nextByte(): number {
  if (taken === pool.length) {
    pool = randomBytes(4096)
    taken = 0
  }
  const byte = pool[taken]!
  // Erased, because it may become part of a secret.
  pool[taken++] = 0
  return byte
}

export const randomHex = (bytes: number): string => randomBytes(bytes).toString('hex')

export const randomBase64 = (bytes: number): string => randomBytes(bytes).toString('base64')

/** A random number from 0 to 1, for jitter. */
export const randomFraction = (): number => randomBytes(4).readUInt32BE() / 0xff_ff_ff_ff

export const sha256Hex = (data: string | Uint8Array): string => Bun.CryptoHasher.hash('sha256', data, 'hex')

export const hmacHex = (key: string | Uint8Array, data: string | Uint8Array): string =>
  createHmac('sha256', key).update(data).digest('hex')

/** Constant-time comparison. Texts of different length are unequal. */
export function timingSafeEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && sameBytes(left, right)
}

/** CRC-32 of the text in six base62 digits: the checksum by which secret scanners recognize a key (docs/api.md 20). */
export function crc32Base62(text: string): string {
  let rest = Bun.hash.crc32(text)
  let out = ''
  for (let index = 0; index < 6; index++) {
    out = BASE62[rest % 62] + out
    rest = Math.floor(rest / 62)
  }
  return out
}

/**
 * Encrypts with AES-256-GCM under the server's master key. `context` is authenticated too, so a sealed value cannot be
 * moved to another row. Form: `v1.<iv>.<tag>.<ciphertext>`, base64url.
 */
export function seal(masterKey: Uint8Array, context: string, plain: string): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', masterKey, iv).setAAD(Buffer.from(context))
  const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
  return ['v1', iv, cipher.getAuthTag(), body]
    .map((part) => (typeof part === 'string' ? part : part.toString('base64url')))
    .join('.')
}

/** The number of sealed values, and of those that a key cannot open. */
export type Resealed = { sealed: number; unreadable: number }

/** Seals the value with another key. Null when the old key does not open it. Without a new key only opens it. */
export function reseal(from: Uint8Array, to: Uint8Array | null, context: string, sealed: string): string | null {
  try {
    const plain = open(from, context, sealed)
    return to === null ? sealed : seal(to, context, plain)
  } catch {
    return null
  }
}

/** Undoes {@link seal}. Throws when the key, the context or a byte differs. */
export function open(masterKey: Uint8Array, context: string, sealed: string): string {
  const [version, iv, tag, body] = sealed.split('.')
  if (version !== 'v1' || !iv || !tag || body === undefined) throw new Error('not a sealed value')
  const decipher = createDecipheriv('aes-256-gcm', masterKey, Buffer.from(iv, 'base64url'))
    .setAAD(Buffer.from(context))
    .setAuthTag(Buffer.from(tag, 'base64url'))
  return Buffer.concat([decipher.update(Buffer.from(body, 'base64url')), decipher.final()]).toString('utf8')
}
