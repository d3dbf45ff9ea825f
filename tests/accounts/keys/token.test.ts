import { describe, expect, test } from 'bun:test'
import { mintSecret, recogniseSecret } from '../../../src/accounts'
import { crc32Base62, sha256Hex } from '../../../src/kernel/crypto'

const LABEL = 'svc_sk_live_'
const flip = (token: string, at: number) => token.slice(0, at) + (token[at] === 'a' ? 'b' : 'a') + token.slice(at + 1)

describe('a minted secret', () => {
  const { token, hash, prefix } = mintSecret(LABEL)

  test('is its label and 48 base62 characters', () => {
    expect(token).toMatch(/^svc_sk_live_[0-9A-Za-z]{48}$/)
  })

  test('ends in the checksum of everything before', () => {
    expect(token.slice(-6)).toBe(crc32Base62(token.slice(0, -6)))
  })

  test('is stored as SHA-256 and shown as its label and four characters', () => {
    expect({ hash, prefix }).toEqual({ hash: sha256Hex(token), prefix: token.slice(0, 16) })
  })

  test('is never made twice', () => {
    const made = new Set(Array.from({ length: 1_000 }, () => mintSecret(LABEL).token))
    expect(made.size).toBe(1_000)
  })

  test('is recognised', () => {
    expect(recogniseSecret(token, [LABEL])).toBe(hash)
  })
})

describe('what is not recognised', () => {
  const { token } = mintSecret(LABEL)
  const notOurs: [string, string][] = [
    ['nothing', ''],
    ['the label alone', LABEL],
    ['a flipped character', flip(token, 20)],
    ['a flipped checksum', flip(token, token.length - 1)],
    ['lower case', token.toLowerCase()],
    ['upper case', token.toUpperCase()],
    ['one character more', `${token}a`],
    ['one character less', token.slice(0, -1)],
    ['a line break at the end', `${token}\n`],
    ['a blank before', ` ${token}`],
    ['another label with a valid checksum', mintSecret('svc_ds_').token],
    ['8 KB of text', LABEL + 'x'.repeat(8_192)],
    ['an emoji', `${token.slice(0, -2)}😀`],
  ]
  test.each(notOurs)('%s', (_what, text) => {
    expect(recogniseSecret(text, [LABEL])).toBeNull()
  })
})
