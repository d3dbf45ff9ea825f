import { hmacHex, timingSafeEqual } from '../kernel/crypto'
import type { BrowserSessionId } from './schema'

/** What a link lets its bearer do: look, or also take the wheel. */
export type Rights = 'view' | 'control'

/** Contract 16.3. */
export const EMBED_MS = 3_600_000
const SHAPE = /^(\d{10})\.(view|control)\.([0-9a-f]{64})$/

type Bound = { session: BrowserSessionId; user: string }

/**
 * Whom the link of a player is signed for: it opens no live view, and a live view's link no player. One from before the
 * session's key was revoked is another's afterwards, so it dies with the key.
 */
export const playerOf = ({ user_id }: { user_id: string }, hasAccess: boolean): string =>
  `player ${user_id}${hasAccess ? '' : ' without access'}`

/** Tokens of live-view links: a signature over session, user, rights and expiry, stored nowhere (contract 16.3, I35). */
export function createEmbedTokens({ masterKey, secret }: { masterKey: Uint8Array; secret: string }) {
  const key = secret || hmacHex(masterKey, 'browser-embed')
  const signatureOf = ({ session, user }: Bound, expires: string, rights: Rights) =>
    hmacHex(key, `browser-embed ${session} ${user} ${expires} ${rights}`)
  return {
    /** A token until `until`, in epoch milliseconds. */
    sign(bound: Bound, until: number, rights: Rights): string {
      const expires = String(Math.floor(until / 1_000))
      return `${expires}.${rights}.${signatureOf(bound, expires, rights)}`
    },

    /** What the token allows, and until when in epoch milliseconds; null when it is not of this session. */
    read(token: string, bound: Bound, now: number): { rights: Rights; until: number } | null {
      const [, expires, rights, signature] = SHAPE.exec(token) ?? []
      if (!expires || !timingSafeEqual(signature!, signatureOf(bound, expires, rights as Rights))) return null
      const until = Number(expires) * 1_000
      return until > now ? { rights: rights as Rights, until } : null
    },
  }
}

export type EmbedTokens = ReturnType<typeof createEmbedTokens>
