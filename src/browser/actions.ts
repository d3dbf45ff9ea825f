import type { JsonSchema } from '../engines'
import type { Draft } from '../files'
import { storeAnswer } from '../idempotency'
import type { Call, Caller } from '../kernel/caller'
import { AppError, invalidInput } from '../kernel/errors'
import { errorFields } from '../kernel/log'
import { microToCents } from '../kernel/money'
import type { Tx } from '../kernel/store'
import { problemsOfResult, ToolFailure, validatorOf } from '../tools'
import type { Deps } from './deps'
import type { Download } from './downloads'
import { browserErrors } from './errors'
import { settle } from './find-element'
import { inTurn, type OpenSession } from './host'
import { within } from './live'
import { type Arguments, type Performed, perform } from './perform'
import { keepAction, pictureOf } from './recorder'
import { sessionRepository as rows } from './repository'
import type { ActionInput, ActionResult, Actor, BrowserTool } from './schema'
import { thinkerFor } from './think'
import { DECLARED } from './tools'

/** A completed download. Its bytes are in the draft, unless `problem` says why they are not kept. */
type Taken = { filename: string; url: string; size: number; draft: Draft | null; problem: string | null }

const WAIT_MS = 20_000

const STEALTH = 'a stealth run stores nothing'

const COMING = 'it is still downloading: a later browser_act, such as "wait", reports when it is complete'

const typeOf = (filename: string): string => {
  const { type } = Bun.file(filename)
  return /^(text|application|image)\//.test(type) && type !== 'application/octet-stream' ? type : 'text/plain'
}

/** Tools that can trigger downloads. */
const TAKES: ReadonlySet<BrowserTool> = new Set(['browser_navigate', 'browser_act'])

type Ran = { performed: Performed; downloads: Taken[]; costMicro: number; ok: boolean; message: string | null }

/**
 * Runs a tool of a session: in turn, recorded, and followed by a fresh live view (docs/api.md 16.3, 16.4). Throws 400
 * for arguments that the tool does not accept, 404 `session_not_found` when the session ended meanwhile.
 */
export async function runAction(
  deps: Deps,
  call: Call<Caller>,
  session: OpenSession,
  { tool, arguments: args = {} }: ActionInput,
  how: { by: Actor; recorded: boolean },
): Promise<ActionResult> {
  const problem = validatorOf(DECLARED[tool].inputSchema)(args)
  if (problem) throw invalidInput('arguments', problem)
  const [wrong] = args.schema ? problemsOfResult(args.schema as JsonSchema, 'schema') : []
  if (wrong) throw invalidInput(`arguments.${wrong.path}`, `"${wrong.path}" ${wrong.message}.`)
  return inTurn(session, async () => {
    await deps.control.wait(session, call.signal)
    const signal = AbortSignal.any([call.signal, AbortSignal.timeout(DECLARED[tool].timeoutMs)])
    session.lastActive = deps.clock.now()
    stepping(session, tool)
    try {
      await within(session.live.ready(), undefined, 5_000)
      const ran = await run(deps, call, session, { tool, args, recorded: how.recorded, signal })
      session.lastActive = deps.clock.now()
      return await finish(deps, call, session, { tool, args, ...how, ran })
    } finally {
      stepping(session, null)
    }
  })
}

async function run(
  deps: Deps,
  call: Call<Caller>,
  session: OpenSession,
  {
    tool,
    args,
    recorded: stored,
    signal,
  }: { tool: BrowserTool; args: Arguments; recorded: boolean; signal: AbortSignal },
): Promise<Ran> {
  let costMicro = 0
  const thinker = thinkerFor(deps, call, (cost) => {
    costMicro += cost
  })
  try {
    const performed = await perform({ ...deps, thinker }, session, tool, args, signal)
    const downloads = TAKES.has(tool) ? await takeDownloads(deps, session, stored, signal) : []
    return { performed, downloads, costMicro, ok: true, message: null }
  } catch (error) {
    if (!session.live.context.closed && !signal.aborted) {
      if (error instanceof AppError && error.kind === 'broken') throw error
      if (!(error instanceof AppError || error instanceof ToolFailure))
        deps.log.warn(errorFields(error), 'a browser tool failed')
    }
    const message = messageOf(error, signal)
    return { performed: { result: { message }, target: null }, downloads: [], costMicro, ok: false, message }
  }
}

type Done = { tool: BrowserTool; args: Arguments; by: Actor; recorded: boolean; ran: Ran }

async function finish(
  deps: Deps,
  call: Call<Caller>,
  session: OpenSession,
  { tool, args, by, recorded: stored, ran }: Done,
): Promise<ActionResult> {
  const { performed, ok } = ran
  const { live } = session
  await within(settle(live.page(), 500), undefined, 1_000)
  const { url, title, favicon_url } = await live.facts(live.page())
  const frame = stored ? await pictureOf(deps, session) : null
  const drafts = [performed.draft, frame, ...ran.downloads.map(({ draft }) => draft)].filter((draft): draft is Draft =>
    Boolean(draft),
  )
  try {
    return await deps.store.write(async (tx: Tx) => {
      const seen = {
        url,
        title,
        favicon_url,
        last_active_at: session.lastActive,
        proxy_bytes: live.proxy.bytes(),
      }
      const version = await rows.nextVersion(tx, session.id, seen)
      if (version === null) throw browserErrors.sessionNotFound()
      const downloads = await keepDownloads(deps, tx, call, session, ran.downloads)
      const result = performed.draft
        ? { artifact: await keepPicture(deps, tx, call, session, performed) }
        : { ...(performed.result as object), ...(downloads.length ? { downloads } : {}) }
      const deed = { actor: by, tool, target: performed.target, ok, url, ...recordOf(tool, args, performed, ran) }
      if (stored) await keepAction(deps, tx, session, session.lastActive, deed, frame)
      await deps.audit.record(tx, call, {
        action: 'browser.action',
        entityType: 'browser_session',
        entityId: session.id,
        ...(call.caller.type === 'operator' ? { scope: session.owner } : {}),
        input: { metadata: { tool } },
      })
      tx.afterCommit(() => {
        session.version = version
        for (const tell of session.listeners) tell()
      })
      const status = ok ? ('success' as const) : ('error' as const)
      const cost_cents = microToCents(ran.costMicro)
      const answer = { session_id: session.id, tool, status, result, live_view_version: version, cost_cents }
      return call.caller.type === 'operator' ? answer : storeAnswer(tx, call as Call, answer)
    })
  } catch (error) {
    await Promise.all(drafts.map((draft) => deps.files.discard(draft).catch(() => undefined)))
    throw error
  }
}

const MADE = { engine: 'svc-core', model: 'svc-1-browser' }

function keepPicture(
  { files }: Deps,
  tx: Tx,
  { requestId }: Call<Caller>,
  { owner }: OpenSession,
  performed: Performed,
) {
  const size = performed.result as { width: number; height: number }
  const about = { type: 'image' as const, filename: 'screenshot.png', ...MADE, requestId, ...size }
  return files.add(tx, owner, performed.draft!, about)
}

/** Shows viewers the running tool, but not its arguments, which may be secret. */
function stepping(session: OpenSession, tool: BrowserTool | null): void {
  session.step = tool
  session.worked = true
  for (const tell of session.listeners) tell()
}

/** The input and result to record. Text typed into a password field appears in neither. */
function recordOf(tool: BrowserTool, args: Arguments, { result, secret }: Performed, { message, downloads }: Ran) {
  const input = tool === 'browser_navigate' ? String(args.url) : String(args.instruction ?? '')
  if (secret) return { input: '[typed into a password field]', result: 'done' }
  const names = downloads.map(({ filename }) => filename)
  const reply = names.length ? { ...(result as object), downloads: names } : result
  return { input, result: message ?? JSON.stringify(reply) ?? '' }
}

function messageOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof ToolFailure || error instanceof AppError) return error.message
  if (signal.aborted) return 'This took too long, or the caller disconnected.'
  return 'This was not possible on the page, which may have navigated away. Look again with browser_observe.'
}

/** Downloads since the last call (docs/api.md 16.4). Waits for running downloads, but not long. */
async function takeDownloads(
  deps: Deps,
  { live }: OpenSession,
  stored: boolean,
  signal: AbortSignal,
): Promise<Taken[]> {
  const found = await live.downloads.take(AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]))
  const taken: Taken[] = []
  for (const one of found) {
    const problem = one.state === 'coming' ? COMING : (one.problem ?? (stored ? null : STEALTH))
    taken.push(await receive(deps, one, problem))
    if (one.state === 'came') await live.downloads.drop(one)
  }
  return taken
}

async function receive(
  { files, log }: Deps,
  { filename, url, bytes: size, path }: Download,
  problem: string | null,
): Promise<Taken> {
  const about = { filename, url, size }
  if (problem !== null) return { ...about, draft: null, problem }
  try {
    const file = Bun.file(path)
    // A text whose file name has no known type is still a text. Its bytes decide.
    const claimed = file.size ? typeOf(filename) : 'text/plain'
    return { ...about, draft: await files.receive(file.stream(), claimed), problem }
  } catch (error) {
    if (error instanceof AppError) return { ...about, draft: null, problem: error.message }
    log.warn(errorFields(error), 'a download was not stored')
    return { ...about, draft: null, problem: 'it could not be stored' }
  }
}

/** Stores the downloads for the session's owner. A download without room is reported, but not kept. */
async function keepDownloads(
  { files }: Deps,
  tx: Tx,
  { requestId }: Call<Caller>,
  { owner }: OpenSession,
  taken: readonly Taken[],
) {
  const kept = []
  for (const { filename, url, size, draft, problem } of taken) {
    const about = { filename, url, size_bytes: size }
    try {
      const made = { type: 'file' as const, filename, ...MADE, requestId }
      kept.push({ ...about, artifact: draft && (await files.add(tx, owner, draft, made)), problem })
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== 'conflict') throw error
      tx.afterCommit(() => void files.discard(draft!).catch(() => undefined))
      kept.push({ ...about, artifact: null, problem: error.message })
    }
  }
  return kept
}
