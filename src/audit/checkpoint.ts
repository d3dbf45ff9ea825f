import { isSignedBy, type SigningKey } from '../kernel/signing'
import type { Checkpoint } from './schema'

type Claim = Omit<Checkpoint, 'signature'>

/**
 * What is signed: every member but the signature, as canonical JSON (RFC 8785). Written out, because
 * only these members are part of the claim, whatever else travels beside them.
 */
export const signedText = ({ hash, object, public_key, scope, seq, signed_at }: Claim): string =>
  JSON.stringify({ hash, object, public_key, scope, seq, signed_at })

/** States that a chain stood here at this time. `at` is ISO 8601. */
export function signCheckpoint(key: SigningKey, place: Pick<Checkpoint, 'scope' | 'seq' | 'hash'>, at: string) {
  const claim: Claim = { object: 'audit_checkpoint', ...place, signed_at: at, public_key: key.publicKey }
  return { ...claim, signature: key.sign(signedText(claim)) } satisfies Checkpoint
}

/** Whether the key it names has signed it. Whose key that is, is for the reader to know. */
export const isAuthentic = (checkpoint: Checkpoint): boolean =>
  isSignedBy(checkpoint.public_key, signedText(checkpoint), checkpoint.signature)
