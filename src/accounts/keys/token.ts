import { crc32Base62, randomBase62, sha256Hex } from '../../kernel/crypto'

/** 42 base62 characters are 250 random bits; the six after them are a checksum of everything before. */
const RANDOM_CHARS = 42
const CHECK_CHARS = 6
const BASE62 = /^[0-9A-Za-z]{48}$/

export const KEY_LABELS = { live: 'svc_sk_live_', test: 'svc_sk_test_' } as const

export type Secret = {
  /** Shown once, never stored. */
  token: string
  /** What is stored: SHA-256, in hex. */
  hash: string
  /** What may be shown later: the label and four more characters. */
  prefix: string
}

/** A new bearer secret under a label, `svc_sk_live_…` (contract 20). */
export function mintSecret(label: string): Secret {
  const body = label + randomBase62(RANDOM_CHARS)
  const token = body + crc32Base62(body)
  return { token, hash: sha256Hex(token), prefix: token.slice(0, label.length + 4) }
}

/**
 * The hash to look a token up by, or null when it cannot be one of this server's: wrong label, length, alphabet or
 * checksum. Needs no database (A10).
 */
export function recogniseSecret(token: string, labels: readonly string[]): string | null {
  const label = labels.find((candidate) => token.startsWith(candidate))
  if (label === undefined || !BASE62.test(token.slice(label.length))) return null
  const body = token.slice(0, -CHECK_CHARS)
  return crc32Base62(body) === token.slice(-CHECK_CHARS) ? sha256Hex(token) : null
}
