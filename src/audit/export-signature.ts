import { type Clock, iso } from '../kernel/clock'
import { notFound } from '../kernel/errors'
import { isSignedBy, type SigningKey } from '../kernel/signing'
import type { ExportSignature } from './schema'

/** Signatures kept in memory; the oldest is dropped first. */
const MAX = 100

type Claim = Omit<ExportSignature, 'signature'>

/** The signed text as canonical JSON (RFC 8785). Members are named so that only these are signed. */
const signedText = ({ bytes, object, public_key, scope, sha256, signed_at }: Claim): string =>
  JSON.stringify({ bytes, object, public_key, scope, sha256, signed_at })

/** Whether the signature matches the public key in it. Whether to trust that key is up to the reader. */
export const isGenuine = (signature: ExportSignature): boolean =>
  isSignedBy(signature.public_key, signedText(signature), signature.signature)

/**
 * Signatures of exported files (dx 2.17). Only files that this server streams itself are signed, so nobody can
 * get a signature for a file of their own.
 */
export function createExportSignatures({ clock, key }: { clock: Clock; key: SigningKey }) {
  const signatures = new Map<string, ExportSignature>()

  function sign(requestId: string, facts: Pick<Claim, 'scope' | 'sha256' | 'bytes'>): void {
    const claim: Claim = {
      object: 'audit_export_signature',
      ...facts,
      signed_at: iso(clock.now()),
      public_key: key.publicKey,
    }
    signatures.set(requestId, { ...claim, signature: key.sign(signedText(claim)) })
    for (const oldest of signatures.keys()) if (signatures.size > MAX) signatures.delete(oldest)
  }

  return {
    /** Passes the pieces through, and signs the file after the last one. */
    async *around(requestId: string, scope: string, pieces: AsyncIterable<string>): AsyncGenerator<string> {
      const hash = new Bun.CryptoHasher('sha256')
      let bytes = 0
      for await (const piece of pieces) {
        hash.update(piece)
        bytes += Buffer.byteLength(piece)
        yield piece
      }
      sign(requestId, { scope, sha256: hash.digest('hex'), bytes })
    },

    /** Throws 404 when the request was not a complete export, or when 100 newer ones have pushed its signature out. */
    of(requestId: string): ExportSignature {
      const signature = signatures.get(requestId)
      if (!signature) throw notFound('signature')
      return { ...signature }
    },
  }
}
