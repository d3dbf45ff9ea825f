import { findOwner, type OrgService, type Unattended } from '../accounts'
import type { AuditLog } from '../audit'
import type { Billing } from '../billing'
import type { ChargingService } from '../charging'
import type { Live } from '../cluster'
import type { EngineService } from '../engines'
import type { EventBus } from '../events'
import type { Files } from '../files'
import { storeAnswer } from '../idempotency'
import type { Takeovers } from '../jobs'
import { type Call, type Caller, ownerOf } from '../kernel/caller'
import { type Clock, iso, isoOrNull } from '../kernel/clock'
import type { Values } from '../kernel/config'
import { AppError } from '../kernel/errors'
import { errorFields, type Log } from '../kernel/log'
import type { Outbound } from '../kernel/outbound'
import type { Reader, Store } from '../kernel/store'
import type { Tool } from '../tools'
import type { UsageLog } from '../usage'
import { createActions } from './actions'
import { createCalls, type Request } from './calls'
import { isConfigured } from './chromium'
import type { browserSettings } from './config'
import { createControl } from './control'
import { createEmbed } from './embed'
import { createEndings, endedView } from './endings'
import { liveViewUnavailable, sessionNotFound } from './errors'
import { createHost, type OpenSession } from './host'
import { createEmbedTokens, createPresenter, type Presenter } from './present'
import { actionsOf, createRecorder, createRemoteInputRecord } from './recorder'
import { sessionRepository as rows } from './repository'
import type { Actor, Recording } from './schema'
import {
  type ActionInput,
  type ActionResult,
  BrowserSessionId,
  type LiveView,
  type NewSession,
  type SessionEnd,
  type SessionHandle,
  type SessionSnapshot,
} from './schema'
import { createOperatorAccess } from './session-state'
import { createStart, holderOf } from './start'
import type { ActionRow, SessionRow } from './table'
import { createThinkers } from './think'
import { toolsOf } from './tools'
import { createWatch } from './watch-loop'

type AgentToolsDeps = {
  log: Log
  start(call: Call, input: NewSession): Promise<SessionHandle>
  action(call: Call, id: string, input: ActionInput, by: Actor, stored: boolean): Promise<ActionResult>
  stop(call: Call, id: string): Promise<unknown>
  own(call: Call, id: string): Promise<SessionRow>
  /** Why no session can be started; null when one can. */
  unavailable(): string | null
}

type RecordingDeps = {
  store: Store
  files: Pick<Files, 'find'>
  hasAccess(row: SessionRow): Promise<boolean>
  present: Pick<Presenter, 'playerUrl'>
}

/** What was done in a session, with fresh links to its pictures (contract 28.3). Pictures that are gone are null. */
const recordingOf =
  (deps: RecordingDeps) =>
  async (row: SessionRow): Promise<Recording> => {
    const { files, hasAccess, present } = deps
    const reader = deps.store.read
    const actions = await actionsOf(reader, row.owner, row.id)
    const shown = async ({ at, actor, tool, input, target, ok, result, url, frame }: ActionRow) => ({
      at: iso(at),
      by: actor,
      tool,
      input,
      target,
      ok,
      result,
      url,
      frame_url: frame === null ? null : ((await files.find(reader, row.owner, frame))?.url ?? null),
    })
    return {
      session_id: row.id,
      started_at: iso(row.started_at),
      ended_at: isoOrNull(row.ended_at),
      actions: await Promise.all(actions.map(shown)),
      player_url: present.playerUrl(row, await hasAccess(row)),
    }
  }

type ShownDeps = { clock: Clock; present: Presenter }

/** How long `/live` answers the same without `force` (contract 16.1). */
const SHOWN_MS = 60_000

type Deps = {
  store: Store
  clock: Clock
  log: Log
  node: string
  masterKey: Uint8Array
  origin(): string
  outbound: Outbound
  audit: AuditLog
  events: EventBus
  billing: Billing
  usage: UsageLog
  files: Files
  takeovers: Pick<Takeovers, 'of'>
  engines: EngineService
  live: Live
  charging: ChargingService
  orgs: OrgService
  unattended: Unattended
  settings: Values<typeof browserSettings>
}

/** How long the tabs of a session of another process may take. */
const ELSEWHERE_MS = 15_000

export type BrowserService = ReturnType<typeof createBrowser>

/** Browser sessions: a real browser that an agent works and a person watches (contract 16). */
export function createBrowser(deps: Deps) {
  const { store, clock, log, node, masterKey, origin, outbound, settings, files } = deps
  const idleMs = settings.browserSessionIdleSeconds * 1_000
  const tokens = createEmbedTokens({ masterKey, secret: settings.browserEmbedTokenSecret })
  const present = createPresenter({ clock, tokens, origin })
  const end = createEndings({ ...deps, idleMs })
  const host = createHost({ settings, outbound, log, onLost: (ids) => void lose(ids), onReplaced: renew })
  const recorder = createRecorder({ files })
  const control = createControl({ store, clock, takeovers: deps.takeovers, find: host.find })
  const act = createActions({ ...deps, recorder, thinkerFor: createThinkers(deps), control })
  const onFault = (error: unknown) => log.warn(errorFields(error), 'what a person did was not recorded')
  const remoteInputRecordOf = createRemoteInputRecord({ store, clock, files, recorder, onFault })
  const start = createStart({ ...deps, host, present })
  // One of no key is the person's own, in any organization.
  const hasAccess = async ({ user_id, key_id: api_key_id }: SessionRow) =>
    (await deps.unattended({ user_id, api_key_id, active_org_id: null })) !== null
  const recordingBy = recordingOf({ store, files, hasAccess, present })
  const ownerNamed = async (reader: Reader, word: string) => (await findOwner(deps.orgs, reader, word)).scope
  const operatorAccess = createOperatorAccess({ ...deps, host, present, ownerNamed })
  const calls = createCalls({ ...deps, serve })
  const unavailable = () => (isConfigured(settings) ? null : 'This server has no browser.')

  return {
    start,
    list,
    get,
    live,
    stop,
    action,
    operatorAccess,
    recording: async (call: Call<Caller>, id: string) => recordingBy(await own(call, id)),
    host,
    embed: createEmbed({
      ...{
        store,
        clock,
        audit: deps.audit,
        host,
        tokens,
        control,
        remoteInputRecordOf,
        liveOf,
        recordingBy,
        addressOf,
      },
      hasAccess,
      isConfigured: () => isConfigured(settings),
    }),
    watch: createWatch({ ...deps, hasAccess, host, end, idleMs, answerCalls: calls.answerAll }),
    close,
    ...createAgentTools({ log, start, action, stop, own, unavailable }),
  }

  async function list({ caller }: Call): Promise<{ sessions: SessionSnapshot[] }> {
    const own = await rows.active(store.read, { owner: ownerOf(caller), holder: holderOf(caller) })
    return { sessions: own.map(present.snapshot) }
  }

  /** Throws 404 `session_not_found`. `fresh` resolves the live view again. */
  async function get(call: Call, id: string, fresh: boolean): Promise<SessionSnapshot> {
    const row = await own(call, id)
    return present.snapshot(fresh && row.state === 'active' ? await refreshed(row) : row)
  }

  /** The tabs of a session and the link to look at them, as in {@link showNow}. Throws 404 as above, `live_view_unavailable`. */
  async function live(call: Call, id: string, fresh: boolean): Promise<LiveView> {
    return liveOf(await own(call, id), fresh)
  }

  async function liveOf(found: SessionRow, fresh: boolean): Promise<LiveView> {
    if (found.state === 'ended') throw sessionNotFound()
    if (isElsewhere(found)) {
      const request = { what: 'live' as const, fresh }
      return (await calls.ask(found, request, AbortSignal.timeout(ELSEWHERE_MS))) as LiveView
    }
    const session = host.find(found.id)
    if (!session) throw liveViewUnavailable()
    const last = fresh ? null : lastShown({ clock }, session, found)
    return last ?? showNow({ clock, present }, session, fresh ? await refreshed(found) : found)
  }

  /** The next version of the live view: no two refreshes have the same (I35). */
  async function refreshed(row: SessionRow): Promise<SessionRow> {
    const session = host.find(row.id)
    const seen = session ? await seenNow(session) : {}
    const version = await store.write((tx) => rows.nextVersion(tx, row.id, seen))
    if (version === null) throw sessionNotFound()
    if (session) {
      session.version = Math.max(session.version, version)
      for (const tell of session.listeners) tell()
    }
    return { ...row, ...seen, view_version: version }
  }

  async function renew(id: BrowserSessionId): Promise<void> {
    const row = await rows.byLink(store.read, id)
    if (row?.state === 'active') await refreshed(row)
  }

  /** Ends a session; one that is over answers as its end did. Throws 404 `session_not_found`. */
  async function stop(call: Call<Caller>, id: string): Promise<SessionEnd> {
    const row = await own(call, id)
    const bytes = host.find(row.id) ? host.bytesOf(row.id) : null
    const ended = await store.write((tx) => end(tx, row.id, 'call', { bytes, call }))
    await host.end(row.id, 'call')
    return endedView(ended ?? (await own(call, id)))
  }

  /** Runs one tool of a session (contract 16.1). */
  async function action(
    call: Call<Caller>,
    id: string,
    input: ActionInput,
    by: Actor = 'api',
    stored = true,
  ): Promise<ActionResult> {
    const row = await own(call, id)
    if (!isElsewhere(row)) return act(call, opened(row), input, { by, kept: stored })
    const { caller, requestId, route } = call
    const request = { what: 'action' as const, call: { caller, requestId, route }, order: input, by, kept: stored }
    const answer = (await calls.ask(row, request, call.signal)) as ActionResult
    return caller.type === 'operator' ? answer : store.write((tx) => storeAnswer(tx, call as Call, answer))
  }

  /** Whether another process of this database has its browser, as far as its row says. */
  function isElsewhere(row: SessionRow): boolean {
    return store.dialect === 'postgres' && row.state === 'active' && row.node !== node && !host.find(row.id)
  }

  /** Does what another process asks for. */
  async function serve(id: BrowserSessionId, request: Request, signal: AbortSignal): Promise<unknown> {
    if (request.what === 'action') {
      const call = { ...request.call, signal }
      return act(call, opened(await own(call, id)), request.order, { by: request.by, kept: request.kept })
    }
    if (request.what === 'address') return { address: settings.nodeUrl || origin() }
    const row = await rows.byLink(store.read, id)
    if (!row || !host.find(id)) throw sessionNotFound()
    return liveOf(row, request.fresh)
  }

  /** Where the process that has its browser is reached; null when it is this one, or answers nobody. */
  async function addressOf(row: SessionRow): Promise<string | null> {
    if (!isElsewhere(row)) return null
    const answer = await calls.ask(row, { what: 'address' }, AbortSignal.timeout(ELSEWHERE_MS)).catch(() => null)
    return (answer as { address: string } | null)?.address ?? null
  }

  function opened(row: SessionRow): OpenSession {
    if (row.state === 'ended') throw sessionNotFound()
    const session = host.find(row.id)
    if (!session) throw liveViewUnavailable()
    return session
  }

  /** The session, of its holder; operators reach everyone's. */
  async function own({ caller }: Pick<Call<Caller>, 'caller'>, id: string): Promise<SessionRow> {
    if (caller.type === 'operator') return operatorAccess.find(id)
    const holder = { owner: ownerOf(caller), holder: holderOf(caller) }
    const row = BrowserSessionId.is(id) ? await rows.find(store.read, holder, id) : undefined
    if (!row) throw sessionNotFound()
    return row
  }

  /** The browser died: its sessions are over, and charged until now. */
  async function lose(ids: readonly BrowserSessionId[]): Promise<void> {
    for (const id of ids) {
      await store
        .write((tx) => end(tx, id, 'browser', { bytes: null }))
        .catch((error: unknown) => log.error(errorFields(error), 'a session was not ended'))
    }
  }

  /** Ends all sessions of this process, when it stops. */
  async function close(): Promise<void> {
    for (const id of [...host.open.keys()]) {
      const bytes = host.bytesOf(id)
      await store.write((tx) => end(tx, id, 'shutdown', { bytes })).catch(() => undefined)
      await host.end(id, 'shutdown')
    }
    await host.close()
  }
}

/** What `/live` answered in the last minute, as long as the version is the same; null when that is not known. */
function lastShown({ clock }: Pick<ShownDeps, 'clock'>, { shown }: OpenSession, row: SessionRow): LiveView | null {
  if (!shown || shown.view.live_view_version !== row.view_version) return null
  return clock.monotonic() - shown.at < SHOWN_MS ? { ...shown.view } : null
}

/** The tabs of a session as they are now, and the link to look at them. */
async function showNow({ clock, present }: ShownDeps, session: OpenSession, row: SessionRow): Promise<LiveView> {
  const pages = await Promise.all(session.live.tabs().map(session.live.facts))
  const view = { session_id: row.id, live_view_url: present.viewUrl(row), live_view_version: row.view_version, pages }
  session.shown = { at: clock.monotonic(), view }
  return { ...view }
}

/** Where the tab in front is, as the row of its session keeps it. */
async function seenNow({ live }: OpenSession): Promise<Pick<SessionRow, 'url' | 'title' | 'favicon_url'>> {
  const { url, title, favicon_url } = await live.facts(live.page())
  return { url, title, favicon_url }
}

/** The browser tools as runs get them (contract 16.4). Of what a stealth run does nothing is kept. */
function createAgentTools({ log, start, action, stop, own, unavailable }: AgentToolsDeps) {
  return {
    /** The tools as they are listed. */
    listedTools: (): Tool[] => toolsOf(null, unavailable),

    /** Bound to a session of the run's caller. Throws 404 `session_not_found`. */
    async toolsFor(call: Call, id: string, stealth: boolean): Promise<Tool[]> {
      const row = await own(call, id)
      if (row.state === 'ended') throw sessionNotFound()
      return toolsOf((by, tool, args) => action(by, row.id, { tool, arguments: args }, 'agent', !stealth), unavailable)
    },

    /**
     * Those of a run without a session: the first that is called begins one, for the run's caller and at its cost, and
     * `end` ends it with the run.
     */
    toolsOfRun(call: Call, stealth: boolean): { tools: Tool[]; end(): void } {
      let begun: Promise<string> | null = null
      const begin = async (by: Call) => (await start({ ...by, once: undefined }, { record: !stealth })).session_id
      const tools = toolsOf(async (by, tool, args) => {
        begun ??= begin(by)
        return action(by, await begun, { tool, arguments: args }, 'agent', !stealth)
      }, unavailable)
      const end = () => {
        begun
          ?.then((id) => stop({ ...call, once: undefined }, id))
          .catch((error: unknown) => {
            // One that never began is over.
            if (!(error instanceof AppError)) log.warn(errorFields(error), 'the session of a run was not ended')
          })
      }
      return { tools, end }
    },
  }
}
