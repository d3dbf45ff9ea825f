import { describe, expect, test } from 'bun:test'
import { isSignedBy, newSigningKey, openSigningKey } from '../../src/kernel/signing'

const key = openSigningKey(newSigningKey())
const signature = key.sign('text')

describe('a signing key', () => {
  test('makes signatures that only its public key and the same text verify', () => {
    expect(isSignedBy(key.publicKey, 'text', signature)).toBe(true)
    expect(isSignedBy(key.publicKey, 'text.', signature)).toBe(false)
    expect(isSignedBy(openSigningKey(newSigningKey()).publicKey, 'text', signature)).toBe(false)
  })

  test('can be opened again from its stored form', () => {
    const stored = newSigningKey()
    expect(openSigningKey(stored).publicKey).toBe(openSigningKey(stored).publicKey)
    expect(Buffer.from(openSigningKey(stored).publicKey, 'base64url')).toHaveLength(32)
  })

  test.each(['', 'AAAA', 'not a key', `${key.publicKey}A`, '\u0000'])('the wrong key %j verifies nothing', (other) => {
    expect(isSignedBy(other, 'text', signature)).toBe(false)
  })

  test.each(['', 'AA', 'A'.repeat(86)])('the wrong signature %j does not verify', (other) => {
    expect(isSignedBy(key.publicKey, 'text', other)).toBe(false)
  })

  test.each(['', 'AAAA', key.publicKey])('%j cannot be opened', (stored) => {
    expect(() => openSigningKey(stored)).toThrow()
  })
})
