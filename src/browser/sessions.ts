import { findOwner } from '../accounts'
import { storeAnswer } from '../idempotency'
import { type Call, type Caller, ownerOf } from '../kernel/caller'
import { iso, isoOrNull } from '../kernel/clock'
import { errorFields } from '../kernel/log'
import { runAction } from './actions'
import { askNode, type Request } from './calls'
import type { Deps } from './deps'
import { endedView, endSession } from './end'
import { browserErrors } from './errors'
import type { OpenSession } from './host'
import { EMBED_MS, linkUntil, playerUrl, presentOverseen, presentSession, viewUrl } from './present'
import { actionsOf } from './recorder'
import { sessionRepository as rows } from './repository'
import {
  type ActionInput,
  type ActionResult,
  type Actor,
  BrowserSessionId,
  type LinkInput,
  type LiveView,
  type OverseenList,
  type Recording,
  type SessionEnd,
  type SessionLink,
  type SessionSnapshot,
} from './schema'
import { holderOf } from './start'
import type { SessionRow } from './table'

/** How long `/live` returns its cached answer without `force` (docs/api.md 16.1). */
const SHOWN_MS = 60_000
/** Timeout for requests about a session of another process. */
const ELSEWHERE_MS = 15_000

/** The session, if it belongs to the caller. Operators reach everyone's. Throws 404 `session_not_found`. */
export async function findSession(
  { store }: Pick<Deps, 'store'>,
  { caller }: Pick<Call<Caller>, 'caller'>,
  id: string,
): Promise<SessionRow> {
  const of = caller.type === 'operator' ? null : { owner: ownerOf(caller), holder: holderOf(caller) }
  const row = BrowserSessionId.is(id) ? await rows.find(store.read, of, id) : undefined
  if (!row) throw browserErrors.sessionNotFound()
  return row
}

/** Open sessions. Operators get those of everyone, or of one owner, oldest first. Throws 404 for an unknown owner. */
export async function listSessions(
  deps: Deps,
  { caller }: Call<Caller>,
  ownerFilter?: string,
): Promise<OverseenList | { sessions: SessionSnapshot[] }> {
  const { store } = deps
  if (caller.type !== 'operator') {
    const own = await rows.active(store.read, { owner: ownerOf(caller), holder: holderOf(caller) })
    return { sessions: own.map((row) => presentSession(deps, row)) }
  }
  const owner = ownerFilter === undefined ? null : (await findOwner(store.read, ownerFilter)).scope
  const all = await rows.everyones(store.read)
  const found = all.filter((row) => owner === null || row.owner === owner)
  return { sessions: found.map((row) => presentOverseen(deps, row)) }
}

/** A session. `fresh` resolves the live view again. */
export async function getSession(deps: Deps, call: Call, id: string, fresh: boolean): Promise<SessionSnapshot> {
  const row = await findSession(deps, call, id)
  return presentSession(deps, fresh && row.state === 'active' ? await refreshed(deps, row) : row)
}

/** For operators: creates a link to view or control a session, for an hour at most. Its creation is recorded. */
export async function createLink(
  deps: Deps,
  call: Call<Caller>,
  id: string,
  { control = false, ttl_seconds }: LinkInput,
): Promise<SessionLink> {
  const { store, clock, audit } = deps
  const row = await findSession(deps, call, id)
  if (row.state === 'ended') throw browserErrors.sessionNotFound()
  const rights = control ? ('control' as const) : ('view' as const)
  const entity = { entityType: 'browser_session' as const, entityId: row.id, scope: row.owner }
  await store.write((tx) =>
    audit.record(tx, call, { action: 'browser.link_created', ...entity, input: { metadata: { rights } } }),
  )
  const until = clock.now() + (ttl_seconds === undefined ? EMBED_MS : ttl_seconds * 1_000)
  return { session_id: row.id, url: linkUntil(deps, row, until, rights), rights, expires_at: iso(until) }
}

/** The tabs of a session and the link to view them. Throws 404 `session_not_found`, `live_view_unavailable`. */
export async function liveOf(deps: Deps, found: SessionRow, fresh: boolean): Promise<LiveView> {
  const { clock, host } = deps
  if (found.state === 'ended') throw browserErrors.sessionNotFound()
  if (isElsewhere(deps, found)) {
    const request = { what: 'live' as const, fresh }
    return (await askNode(deps, found, request, AbortSignal.timeout(ELSEWHERE_MS))) as LiveView
  }
  const session = host.find(found.id)
  if (!session) throw browserErrors.liveViewUnavailable()
  const { shown } = session
  // Reuses the answer of the last minute while the version is unchanged.
  const isNew = shown?.view.live_view_version === found.view_version && clock.monotonic() - shown.at < SHOWN_MS
  if (!fresh && isNew) return { ...shown.view }
  const row = fresh ? await refreshed(deps, found) : found
  const pages = await Promise.all(session.live.tabs().map(session.live.facts))
  const { id: session_id, view_version: live_view_version } = row
  const view = { session_id, live_view_url: viewUrl(deps, row), live_view_version, pages }
  session.shown = { at: clock.monotonic(), view }
  return { ...view }
}

/** Increments the version of the live view. No two refreshes get the same one (docs/promises.md I35). */
async function refreshed({ store, host }: Deps, row: SessionRow): Promise<SessionRow> {
  const session = host.find(row.id)
  let seen: Partial<SessionRow> = {}
  if (session) {
    const { url, title, favicon_url } = await session.live.facts(session.live.page())
    seen = { url, title, favicon_url }
  }
  const version = await store.write((tx) => rows.nextVersion(tx, row.id, seen))
  if (version === null) throw browserErrors.sessionNotFound()
  if (session) {
    session.version = Math.max(session.version, version)
    for (const tell of session.listeners) tell()
  }
  return { ...row, ...seen, view_version: version }
}

/** Refreshes the live view after a lost page was replaced. */
export async function renew(deps: Deps, id: BrowserSessionId): Promise<void> {
  const row = await rows.find(deps.store.read, null, id)
  if (row?.state === 'active') await refreshed(deps, row)
}

/** The actions of a session, with new links to its pictures (docs/api.md 28.3). Null for deleted pictures. */
export async function recordingOf(deps: Deps, row: SessionRow): Promise<Recording> {
  const { store, files } = deps
  const actions = (await actionsOf(store.read, row.owner, row.id)).map(
    async ({ id: _, session_id, owner, at, actor: by, frame, ...action }) => ({
      at: iso(at),
      by,
      ...action,
      frame_url: frame === null ? null : ((await files.find(store.read, owner, frame))?.url ?? null),
    }),
  )
  return {
    session_id: row.id,
    started_at: iso(row.started_at),
    ended_at: isoOrNull(row.ended_at),
    actions: await Promise.all(actions),
    player_url: playerUrl(deps, row, await hasAccess(deps, row)),
  }
}

/** True if the session's creator may still use this server. Without a key, the user counts, in any organization. */
export const hasAccess = async (
  { unattended }: Pick<Deps, 'unattended'>,
  { user_id, key_id: api_key_id }: SessionRow,
): Promise<boolean> => (await unattended({ user_id, api_key_id, active_org_id: null })) !== null

/** Ends a session. For an ended session, returns the same answer again. */
export async function stopSession(deps: Deps, call: Call<Caller>, id: string): Promise<SessionEnd> {
  const { store, host } = deps
  const row = await findSession(deps, call, id)
  const bytes = host.find(row.id) ? host.bytesOf(row.id) : null
  const ended = await store.write((tx) => endSession(deps, tx, row.id, 'call', { bytes, call }))
  await host.end(row.id, 'call')
  return endedView(ended ?? (await findSession(deps, call, id)))
}

/** Runs one tool of a session (docs/api.md 16.1). */
export async function actIn(
  deps: Deps,
  call: Call<Caller>,
  id: string,
  input: ActionInput,
  how: { by: Actor; recorded: boolean } = { by: 'api', recorded: true },
): Promise<ActionResult> {
  const row = await findSession(deps, call, id)
  if (!isElsewhere(deps, row)) return runAction(deps, call, opened(deps, row), input, how)
  const { caller, requestId, route } = call
  const request = { what: 'action' as const, call: { caller, requestId, route }, order: input, ...how }
  const answer = (await askNode(deps, row, request, call.signal)) as ActionResult
  return caller.type === 'operator' ? answer : deps.store.write((tx) => storeAnswer(tx, call as Call, answer))
}

/** True if, by its row, another process of this database runs the session's browser. */
const isElsewhere = ({ store, node, host }: Deps, row: SessionRow): boolean =>
  store.dialect === 'postgres' && row.state === 'active' && row.node !== node && !host.find(row.id)

function opened({ host }: Deps, row: SessionRow): OpenSession {
  if (row.state === 'ended') throw browserErrors.sessionNotFound()
  const session = host.find(row.id)
  if (!session) throw browserErrors.liveViewUnavailable()
  return session
}

/** Executes a request of another process. */
export async function serve(deps: Deps, id: BrowserSessionId, request: Request, signal: AbortSignal): Promise<unknown> {
  if (request.what === 'action') {
    const call = { ...request.call, signal }
    return runAction(deps, call, opened(deps, await findSession(deps, call, id)), request.order, request)
  }
  if (request.what === 'address') return { address: deps.settings.nodeUrl || deps.origin() }
  const row = await rows.find(deps.store.read, null, id)
  if (!row || !deps.host.find(id)) throw browserErrors.sessionNotFound()
  return liveOf(deps, row, request.fresh)
}

/** Address of the process that runs the browser. Null if it is this process, or does not answer. */
export async function addressOf(deps: Deps, row: SessionRow): Promise<string | null> {
  if (!isElsewhere(deps, row)) return null
  const answer = await askNode(deps, row, { what: 'address' }, AbortSignal.timeout(ELSEWHERE_MS)).catch(() => null)
  return (answer as { address: string } | null)?.address ?? null
}

/** Ends the sessions of a browser that died. They are charged until now. */
export async function loseSessions(deps: Deps, ids: readonly BrowserSessionId[]): Promise<void> {
  for (const id of ids) {
    await deps.store
      .write((tx) => endSession(deps, tx, id, 'browser', { bytes: null }))
      .catch((error: unknown) => deps.log.error(errorFields(error), 'a session was not ended'))
  }
}

/** Ends all sessions of this process, when it stops. */
export async function closeAll(deps: Deps): Promise<void> {
  const { store, host } = deps
  for (const id of [...host.open.keys()]) {
    const bytes = host.bytesOf(id)
    await store.write((tx) => endSession(deps, tx, id, 'shutdown', { bytes })).catch(() => undefined)
    await host.end(id, 'shutdown')
  }
  await host.close()
}
