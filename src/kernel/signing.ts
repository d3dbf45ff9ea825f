import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'

/** An Ed25519 key that signs text. */
export type SigningKey = {
  /** The public half: its 32 bytes in base64url, like `x` of a JWK. */
  readonly publicKey: string
  /** 64 bytes in base64url. */
  sign(text: string): string
}

/** A new private key as PKCS #8 in base64. Store it in the secrets file only. */
export const newSigningKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64')

/** Opens a key made by {@link newSigningKey}. Throws for any other text. */
export function openSigningKey(pkcs8: string): SigningKey {
  const key = createPrivateKey({ key: Buffer.from(pkcs8, 'base64'), format: 'der', type: 'pkcs8' })
  const { crv, x } = createPublicKey(key).export({ format: 'jwk' })
  if (crv !== 'Ed25519' || x === undefined) throw new Error('not an Ed25519 key')
  return { publicKey: x, sign: (text) => sign(null, Buffer.from(text), key).toString('base64url') }
}

/** True if the holder of `publicKey` signed exactly this text. False also for a malformed key or signature. */
export function isSignedBy(publicKey: string, text: string, signature: string): boolean {
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' })
    return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'))
  } catch {
    return false
  }
}
