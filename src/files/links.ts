import { hmacHex, timingSafeEqual } from '../kernel/crypto'
import type { ArtifactId } from './schema'

/** How long a link works, in milliseconds (contract 2.3). */
export const LINK_MS = 3_600_000

type Link = { expires: string; signature: string }

/** Links that read one file until a moment, without a credential. The signature covers the file and the moment. */
export function createLinks({ masterKey, origin }: { masterKey: Uint8Array; origin(): string }) {
  const signatureOf = (id: string, expires: string) => hmacHex(masterKey, `file-link ${id} ${expires}`)
  return {
    /** The address of a file until `until`, in epoch milliseconds. */
    to(id: ArtifactId, until: number): string {
      const expires = String(Math.floor(until / 1_000))
      return `${origin()}/files/${id}?expires=${expires}&signature=${signatureOf(id, expires)}`
    },

    /** Whether this link was made here, for this file, and has not expired. */
    holds: (id: string, { expires, signature }: Link, now: number): boolean =>
      timingSafeEqual(signature, signatureOf(id, expires)) && Number(expires) * 1_000 > now,
  }
}
