import type { KeyCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { notFound } from '../kernel/errors'
import type { KeyId } from '../kernel/ids'
import type { Store } from '../kernel/store'
import { badPreview, badToken, originRefused } from './errors'
import { frameAncestors, isAllowed, isOwnPage, type Page } from './origins'
import { sessionRepository as rows } from './repository'
import { WidgetId } from './schema'
import { WidgetSessionId } from './schema-sessions'
import type { SessionRow, WidgetRow } from './table'
import { createPreviewTokens, fitsHash } from './tokens'

type Deps = {
  store: Store
  clock: Clock
  masterKey: Uint8Array
  origin(): string
  /** The caller that the widget's answers run as; null where its key no longer works. */
  keyOf(id: KeyId): Promise<KeyCaller | null>
}

/** A visitor's request, as far as it says who asks. */
export type VisitorRequest = {
  id: string
  page: Page
  ip: string
  userAgent: string | null
  /** The widget token; null for none, and for other credentials. */
  token: string | null
  /** A reading request may come without an Origin, as browsers leave it out within one origin. */
  reads: boolean
  requestId: string
  route: string
  signal: AbortSignal
  /** The token is good: this is no stranger's connection any more. */
  known(): void
  /** Lets this origin's pages read the answer. */
  readable(origin: string): void
}

export type VisitorAuth = ReturnType<typeof createVisitorAuth>

/** Lets visitors in: an active widget, a page that it allows, and the token of their own chat (contract 15.3). */
export function createVisitorAuth({ store, clock, masterKey, origin, keyOf }: Deps) {
  const previews = createPreviewTokens(masterKey)
  return { enter, session, active, frame, previews }

  /** Throws 404 for a widget that is not there or disabled. */
  async function active(id: string): Promise<WidgetRow> {
    const row = WidgetId.is(id) ? await rows.widget(store.read, id) : undefined
    if (row?.status !== 'active') throw notFound('widget')
    return row
  }

  async function allowedOf({ security, api_key_id }: WidgetRow): Promise<readonly string[]> {
    if (security.allowedOrigins.length) return security.allowedOrigins
    return (await keyOf(api_key_id))?.allowedOrigins ?? []
  }

  /** Before there is a chat. Throws 404, 403 `origin_not_allowed`, and 401 for a preview that is over. */
  async function enter(
    visitorRequest: VisitorRequest,
    preview?: string,
  ): Promise<{ widget: WidgetRow; isOwn: boolean }> {
    const widget = await active(visitorRequest.id)
    const isOwn = isOwnPage(visitorRequest.page, origin())
    if (preview !== undefined) {
      if (!previews.fits(preview, widget.id, clock.now())) throw badPreview()
    } else if (!isOwn && !isAllowed(visitorRequest.page, await allowedOf(widget)))
      throw originRefused(visitorRequest.page.origin)
    if (visitorRequest.page.origin) visitorRequest.readable(visitorRequest.page.origin)
    return { widget, isOwn }
  }

  /** With a chat's token. Throws 404, 401 `invalid_token`, 403 for a page other than the one it was given to. */
  async function session(
    visitorRequest: VisitorRequest,
    sessionId: string,
  ): Promise<{ widget: WidgetRow; session: SessionRow }> {
    const widget = await active(visitorRequest.id)
    const found = WidgetSessionId.is(sessionId) ? await rows.find(store.read, widget.id, sessionId) : undefined
    const isBound = found && isBoundTo(visitorRequest, found)
    if (isBound && visitorRequest.page.origin) visitorRequest.readable(visitorRequest.page.origin)
    const { token } = visitorRequest
    if (!found || token === null || !fitsHash(token, found.token_hash) || found.expires_at <= clock.now())
      throw badToken()
    if (!isBound) throw originRefused(visitorRequest.page.origin)
    visitorRequest.known()
    return { widget, session: found }
  }

  function isBoundTo({ page, reads }: VisitorRequest, { token_origin: bound }: SessionRow): boolean {
    if (reads && page.origin === null) return true
    return bound === null ? isOwnPage(page, origin()) : page.origin === bound
  }

  /** Who may frame the page of a widget, for its `frame-ancestors`. Throws as `enter`. */
  async function frame(id: string, preview?: string): Promise<{ widget: WidgetRow; ancestors: string }> {
    const widget = await active(id)
    if (preview !== undefined && !previews.fits(preview, widget.id, clock.now())) throw badPreview()
    const allowed = preview === undefined ? await allowedOf(widget) : []
    return { widget, ancestors: frameAncestors(allowed, preview !== undefined) }
  }
}
