import { type Clock, iso } from '../kernel/clock'
import { notFound } from '../kernel/errors'
import { isSignedBy, type SigningKey } from '../kernel/signing'
import type { ExportSignature } from './schema'

/** Of how many exports the signature can still be asked for. */
const MOST = 100

type Claim = Omit<ExportSignature, 'signature'>

/** What is signed, as canonical JSON (RFC 8785): only these members are part of the claim. */
const signedText = ({ bytes, object, public_key, scope, sha256, signed_at }: Claim): string =>
  JSON.stringify({ bytes, object, public_key, scope, sha256, signed_at })

/** Whether the key it names has signed it. Whose key that is, is for the reader to know. */
export const isGenuine = (signature: ExportSignature): boolean =>
  isSignedBy(signature.public_key, signedText(signature), signature.signature)

/**
 * Signatures that travel beside a file (dx 2.17). This server signs only what it has written itself, so
 * nobody can have a file of their own making signed.
 */
export function createExportSignatures({ clock, key }: { clock: Clock; key: SigningKey }) {
  const made = new Map<string, ExportSignature>()

  function keep(requestId: string, facts: Pick<Claim, 'scope' | 'sha256' | 'bytes'>): void {
    const claim: Claim = {
      object: 'audit_export_signature',
      ...facts,
      signed_at: iso(clock.now()),
      public_key: key.publicKey,
    }
    made.set(requestId, { ...claim, signature: key.sign(signedText(claim)) })
    for (const oldest of made.keys()) if (made.size > MOST) made.delete(oldest)
  }

  return {
    /** The same pieces; the file is signed once the last of them is out. */
    async *around(requestId: string, scope: string, pieces: AsyncIterable<string>): AsyncGenerator<string> {
      const hash = new Bun.CryptoHasher('sha256')
      let bytes = 0
      for await (const piece of pieces) {
        hash.update(piece)
        bytes += Buffer.byteLength(piece)
        yield piece
      }
      keep(requestId, { scope, sha256: hash.digest('hex'), bytes })
    },

    /** Throws 404 for a request that was no whole export, or that a hundred others followed. */
    of(requestId: string): ExportSignature {
      const signature = made.get(requestId)
      if (!signature) throw notFound('signature')
      return { ...signature }
    },
  }
}
