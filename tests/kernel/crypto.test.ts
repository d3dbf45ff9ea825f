import { describe, expect, test } from 'bun:test'
import {
  crc32Base62,
  hmacHex,
  open,
  randomBase62,
  randomHex,
  seal,
  sha256Hex,
  timingSafeEqual,
} from '../../src/kernel/crypto'

const key = new Uint8Array(32).fill(7)

describe('randomness', () => {
  test('base62 has the length asked for and every character of the alphabet about equally often', () => {
    const text = randomBase62(62_000)
    expect(text).toHaveLength(62_000)
    const counts = new Map<string, number>()
    for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1)
    expect(counts.size).toBe(62)
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(250)
  })

  test.each([0, 1, 24, 48])('base62 of length %i', (length) => {
    expect(randomBase62(length)).toMatch(new RegExp(`^[0-9A-Za-z]{${length}}$`))
  })

  test('hex has two characters a byte', () => {
    expect(randomHex(16)).toMatch(/^[0-9a-f]{32}$/)
  })
})

describe('digests', () => {
  test('are those of the standards', () => {
    expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(hmacHex('key', 'The quick brown fox jumps over the lazy dog')).toBe(
      'f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8',
    )
  })

  test('the checksum tail is the CRC-32 in six base62 digits', () => {
    // CRC-32 of "123456789" is 0xCBF43926 = 3421780262.
    expect(crc32Base62('123456789')).toBe('3jZRME')
    expect(crc32Base62('')).toBe('000000')
  })

  test('comparison takes equal texts for equal and nothing else', () => {
    expect(timingSafeEqual('secret', 'secret')).toBe(true)
    for (const other of ['secreT', 'secre', 'secrets', '']) expect(timingSafeEqual('secret', other)).toBe(false)
  })
})

describe('sealed values', () => {
  test('open to what was sealed, and look different every time', () => {
    const sealed = seal(key, 'webhook:1', 'geheim 😀')
    expect(open(key, 'webhook:1', sealed)).toBe('geheim 😀')
    expect(seal(key, 'webhook:1', 'geheim 😀')).not.toBe(sealed)
    expect(sealed).not.toContain('geheim')
  })

  test('an empty text survives', () => {
    expect(open(key, 'c', seal(key, 'c', ''))).toBe('')
  })

  const sealed = seal(key, 'webhook:1', 'secret')
  const [version, iv, tag, body] = sealed.split('.') as [string, string, string, string]
  test.each([
    ['another context', () => open(key, 'webhook:2', sealed)],
    ['another key', () => open(new Uint8Array(32).fill(8), 'webhook:1', sealed)],
    [
      'a changed byte',
      () => open(key, 'webhook:1', [version, iv, tag, `${body.startsWith('A') ? 'B' : 'A'}${body.slice(1)}`].join('.')),
    ],
    ['a missing part', () => open(key, 'webhook:1', [version, iv, tag].join('.'))],
    ['another version', () => open(key, 'webhook:1', ['v2', iv, tag, body].join('.'))],
    ['plain text', () => open(key, 'webhook:1', 'secret')],
  ])('do not open with %s', (_, attempt) => {
    expect(attempt).toThrow()
  })
})
