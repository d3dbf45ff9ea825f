import { hmacHex, randomBase62, sha256Hex, timingSafeEqual } from '../kernel/crypto'

const SESSION = 'svc_wt_'
const PREVIEW = 'svc_wp_'
const SECRET_CHARS = 43
const PREVIEW_MS = 15 * 60_000

/** A visitor's token and what is stored of it. */
export function newSessionToken(): { token: string; hash: string } {
  const token = `${SESSION}${randomBase62(SECRET_CHARS)}`
  return { token, hash: sha256Hex(token) }
}

/** The bearer token of a header; null for anything else, such as a key of an account. */
export function bearerOf(header: string | null): string | null {
  const match = header?.match(/^Bearer (svc_wt_[0-9A-Za-z]{43})$/)
  return match ? match[1]! : null
}

export const fitsHash = (token: string, hash: string): boolean => timingSafeEqual(sha256Hex(token), hash)

/** Tokens that show a widget to whoever has them, for 15 minutes: signed, and stored nowhere. */
export function createPreviewTokens(masterKey: Uint8Array) {
  const signed = (id: string, until: number) => hmacHex(masterKey, `widget-preview ${id} ${until}`).slice(0, 48)
  return {
    make(id: string, now: number): { token: string; until: number } {
      const until = now + PREVIEW_MS
      return { token: `${PREVIEW}${until.toString(36)}_${signed(id, until)}`, until }
    },
    /** Whether it is one of this widget, and its time is not over. */
    fits(token: string, id: string, now: number): boolean {
      const [, time = '', signature = ''] = token.match(/^svc_wp_([0-9a-z]{1,12})_([0-9a-f]{48})$/) ?? []
      const until = Number.parseInt(time, 36)
      return Number.isSafeInteger(until) && until > now && timingSafeEqual(signature, signed(id, until))
    },
  }
}

/** Who an address is, for limits, without storing it. */
export const addressHash = (masterKey: Uint8Array, widgetId: string, ip: string): string =>
  hmacHex(masterKey, `widget-address ${widgetId} ${ip}`).slice(0, 32)
