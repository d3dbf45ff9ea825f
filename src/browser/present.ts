import { iso } from '../kernel/clock'
import { hmacHex, timingSafeEqual } from '../kernel/crypto'
import type { Deps } from './deps'
import type { BrowserSessionId, OverseenSession, SessionHandle, SessionSnapshot } from './schema'
import type { SessionRow } from './table'

/** What a link allows: viewing only, or also taking control. */
export type Rights = 'view' | 'control'

/** Lifetime of links (docs/api.md 16.3). */
export const EMBED_MS = 3_600_000
const SHAPE = /^(\d{10})\.(view|control)\.([0-9a-f]{64})$/

type Bound = { session: BrowserSessionId; user: string }

/**
 * Subject of a player link's signature. It differs from a live view's, so neither link opens the other. It also changes
 * when the session's key is revoked, so older player links stop working.
 */
export const playerOf = ({ user_id }: { user_id: string }, hasAccess: boolean): string =>
  `player ${user_id}${hasAccess ? '' : ' without access'}`

/** Tokens of live-view links: a signature over session, user, rights and expiry, stored nowhere (docs/api.md 16.3). */
export function createEmbedTokens({ masterKey, secret }: { masterKey: Uint8Array; secret: string }) {
  const key = secret || hmacHex(masterKey, 'browser-embed')
  const signatureOf = ({ session, user }: Bound, expires: string, rights: Rights) =>
    hmacHex(key, `browser-embed ${session} ${user} ${expires} ${rights}`)
  return {
    /** A token that expires at `until`, in epoch milliseconds. */
    sign(bound: Bound, until: number, rights: Rights): string {
      const expires = String(Math.floor(until / 1_000))
      return `${expires}.${rights}.${signatureOf(bound, expires, rights)}`
    },

    /** The rights and expiry of the token, in epoch milliseconds. Null if it does not belong to this session. */
    read(token: string, bound: Bound, now: number): { rights: Rights; until: number } | null {
      const [, expires, rights, signature] = SHAPE.exec(token) ?? []
      if (!expires || !timingSafeEqual(signature!, signatureOf(bound, expires, rights as Rights))) return null
      const until = Number(expires) * 1_000
      return until > now ? { rights: rights as Rights, until } : null
    },
  }
}

export type EmbedTokens = ReturnType<typeof createEmbedTokens>

type Linking = Pick<Deps, 'clock' | 'tokens' | 'origin'>

/** A link to the live view of a session that expires at `until`, in epoch milliseconds. */
export const linkUntil = (
  { tokens, origin }: Linking,
  { id, user_id: user }: SessionRow,
  until: number,
  rights: Rights,
) => `${origin()}/embed/browser/${id}?token=${tokens.sign({ session: id, user }, until, rights)}`

/** The link of the page that plays the recording. It also works after the end of the session. */
export function playerUrl({ clock, tokens, origin }: Linking, row: SessionRow, hasAccess: boolean): string {
  const token = tokens.sign({ session: row.id, user: playerOf(row, hasAccess) }, clock.now() + EMBED_MS, 'view')
  return `${origin()}/embed/browser/${row.id}/recording?token=${token}`
}

/** The link to view a session. Null after the session has ended. */
export const viewUrl = (deps: Linking, row: SessionRow): string | null =>
  row.state === 'active' ? linkUntil(deps, row, deps.clock.now() + EMBED_MS, 'view') : null

/** A session as callers see it, each time with fresh links that work for an hour. */
export function presentHandle(deps: Linking, row: SessionRow): SessionHandle {
  const until = deps.clock.now() + EMBED_MS
  return {
    session_id: row.id,
    live_view_url: viewUrl(deps, row),
    live_view_version: row.view_version,
    embed_url: row.state === 'active' ? linkUntil(deps, row, until, 'control') : null,
    embed_token_expires_at: iso(Math.floor(until / 1_000) * 1_000),
    region: row.region,
    keep_alive: row.keep_alive,
    started_at: iso(row.started_at),
    expires_at: iso(row.expires_at),
  }
}

export const presentSession = (deps: Linking, row: SessionRow): SessionSnapshot => ({
  object: 'browser_session',
  ...presentHandle(deps, row),
  current_url: row.url,
  current_title: row.title,
  favicon_url: row.favicon_url,
  last_active_at: iso(row.last_active_at),
  proxies: row.proxies,
  status: row.state,
  ended_reason: row.reason,
})

/** A session as operators see it. Its links are null, because operators must request one, which is recorded. */
export const presentOverseen = (deps: Linking & Pick<Deps, 'host'>, row: SessionRow): OverseenSession => ({
  ...presentSession(deps, row),
  live_view_url: null,
  embed_url: null,
  owner: row.owner,
  user_id: row.user_id,
  api_key_id: row.key_id,
  node: row.node,
  viewers: deps.host.find(row.id)?.viewers ?? row.viewers,
})
