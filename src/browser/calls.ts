import { and, eq, isNull, lt } from 'drizzle-orm'
import type { Call, Caller } from '../kernel/caller'
import { open, randomHex, seal } from '../kernel/crypto'
import { AppError, type ErrorCode } from '../kernel/errors'
import type { Deps } from './deps'
import { browserErrors } from './errors'
import type { ActionInput, Actor, BrowserSessionId } from './schema'
import { browserCalls, type SessionRow } from './table'

/** A request to the process that runs a session's browser. */
export type Request =
  | {
      what: 'action'
      call: Pick<Call<Caller>, 'caller' | 'requestId' | 'route'>
      order: ActionInput
      by: Actor
      recorded: boolean
    }
  | { what: 'live'; fresh: boolean }
  | { what: 'address' }

type Answered = { value: unknown } | { error: { code: ErrorCode; message: string } }

const LOOK_MS = 250
/** A live process takes a call sooner than this. */
const TAKEN_MS = 6_000
/** The longest tool after the longest wait for a person. */
const MAX_MS = 200_000
const STORED_MS = 600_000
const MAX = 20

/*
 * Calls to sessions of another process. A row holds the request, and later the answer. Both are encrypted, because
 * people type passwords. The wire only wakes the other side. Without it both sides poll.
 */

type Calling = Pick<Deps, 'store' | 'clock' | 'node' | 'masterKey' | 'live'>
/** Executes a request in this process. Throws like the executed function. */
export type Serve = (id: BrowserSessionId, request: Request, signal: AbortSignal) => Promise<unknown>

/** The answer of the process that runs the session. Throws its error, and 404 `live_view_unavailable`. */
export async function askNode(deps: Calling, row: SessionRow, request: Request, signal: AbortSignal): Promise<unknown> {
  const { store, clock, masterKey, live } = deps
  const id = randomHex(12)
  const began = clock.monotonic()
  let wake: () => void = () => undefined
  const stop = live.subscribe('browser.answer', id, () => wake())
  try {
    await store.write(async (tx) => {
      const order = seal(masterKey, id, JSON.stringify(request))
      const made = { id, owner: row.owner, session_id: row.id, node: row.node, at: clock.now(), taken: false }
      await tx.insert(tx.of(browserCalls)).values({ ...made, order, answer: null })
      tx.afterCommit(() => live.publish('browser.call', row.node))
    })
    for (;;) {
      const t = store.read.of(browserCalls)
      const ownCall = and(eq(t.id, id), eq(t.owner, row.owner))
      const found = (await store.read.select().from(t).where(ownCall))[0]
      if (found?.answer) {
        const answered = JSON.parse(open(masterKey, id, found.answer)) as Answered
        if ('value' in answered) return answered.value
        throw new AppError(answered.error.code, answered.error.message)
      }
      signal.throwIfAborted()
      const waited = clock.monotonic() - began
      if (!found || waited > MAX_MS || (waited > TAKEN_MS && !found.taken)) throw browserErrors.liveViewUnavailable()
      const { promise: woken, resolve } = Promise.withResolvers<void>()
      wake = resolve
      await Promise.race([clock.sleep(LOOK_MS, signal), woken])
    }
  } finally {
    stop()
    // Once its row is deleted, a call that was not taken can no longer run.
    await store.write((tx) => tx.delete(tx.of(browserCalls)).where(eq(tx.of(browserCalls).id, id)))
  }
}

/** Starts the calls that wait for this process. Returns how many it started. */
export async function answerAll(deps: Calling, serve: Serve): Promise<number> {
  const { store, node } = deps
  const t = store.read.of(browserCalls)
  const waiting = await store.read
    .select({ id: t.id })
    .from(t)
    .where(and(eq(t.node, node), eq(t.taken, false)))
    .limit(MAX)
  for (const { id } of waiting) void answer(deps, serve, id).catch(() => undefined)
  return waiting.length
}

async function answer({ store, clock, masterKey, live }: Calling, serve: Serve, id: string): Promise<void> {
  const [taken] = await store.write((tx) => {
    const t = tx.of(browserCalls)
    return tx
      .update(t)
      .set({ taken: true })
      .where(and(eq(t.id, id), eq(t.taken, false)))
      .returning()
  })
  if (!taken) return
  const request = JSON.parse(open(masterKey, id, taken.order)) as Request
  const answered = await answerOf(serve, taken.session_id, request)
  await store.write(async (tx) => {
    const t = tx.of(browserCalls)
    const sealed = seal(masterKey, id, JSON.stringify(answered))
    await tx
      .update(t)
      .set({ answer: sealed })
      .where(and(eq(t.id, id), isNull(t.answer)))
    // Also removes calls whose process died before it could remove them.
    await tx.delete(t).where(lt(t.at, clock.now() - STORED_MS))
    tx.afterCommit(() => live.publish('browser.answer', id))
  })
}

async function answerOf(serve: Serve, id: BrowserSessionId, request: Request): Promise<Answered> {
  try {
    return { value: await serve(id, request, AbortSignal.timeout(MAX_MS)) }
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === 'broken') throw error
    const { code, message } = error
    return { error: { code, message } }
  }
}
