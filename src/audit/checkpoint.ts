import { isSignedBy, type SigningKey } from '../kernel/signing'
import type { Checkpoint } from './schema'

type Claim = Omit<Checkpoint, 'signature'>

/**
 * The signed text: every member but the signature, as canonical JSON (RFC 8785). The members are named here so
 * that anything else in the object stays outside the signature.
 */
const signedText = ({ hash, object, public_key, scope, seq, signed_at }: Claim): string =>
  JSON.stringify({ hash, object, public_key, scope, seq, signed_at })

/** Signs that a chain had this `seq` and `hash` at time `at` (ISO 8601). */
export function signCheckpoint(key: SigningKey, head: Pick<Checkpoint, 'scope' | 'seq' | 'hash'>, at: string) {
  const claim: Claim = { object: 'audit_checkpoint', ...head, signed_at: at, public_key: key.publicKey }
  return { ...claim, signature: key.sign(signedText(claim)) } satisfies Checkpoint
}

/** Whether the signature matches the public key in the checkpoint. Whether to trust that key is up to the reader. */
export const isAuthentic = (checkpoint: Checkpoint): boolean =>
  isSignedBy(checkpoint.public_key, signedText(checkpoint), checkpoint.signature)
