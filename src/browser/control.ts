import type { OwnerScope, SessionCaller } from '../kernel/caller'
import { newRequestId, type UserId } from '../kernel/ids'
import { ToolFailure } from '../tools'
import type { OtherModules } from './deps'
import type { Host, OpenSession } from './host'
import type { BrowserSessionId } from './schema'

/** Kind of these takeovers in the takeover module. */
export const CONTROL_KIND = 'browser_session'
/** A person who is inactive for this long loses control. */
const SILENCE_MS = 60_000
const LOOK_MS = 250
const MAX_WAIT_MS = 120_000

/** Tracks who controls a session: the agent, or one person while the agent waits (docs/api.md 16.3). */
export function createControl({
  store,
  clock,
  takeovers,
  find,
}: Pick<OtherModules, 'store' | 'clock' | 'takeovers'> & Pick<Host, 'find'>) {
  const ofSessions = takeovers.of({
    name: CONTROL_KIND,
    title: 'browser session',
    silenceMs: SILENCE_MS,
    async changed(tx, { subject, now }) {
      tx.afterCommit(() => {
        const session = find(subject.id as BrowserSessionId)
        if (!session) return
        session.holder = now.holder?.id ?? null
        for (const tell of session.listeners) tell()
      })
    },
  })
  const subjectOf = ({ id, owner }: { id: string; owner: OwnerScope }) => ({ id, owner })

  const want = (session: OpenSession, wanted: string | null) => {
    session.wanted = wanted
    for (const tell of session.listeners) tell()
  }

  return {
    /**
     * Asks the viewers for help, and waits until one of them has taken and returned control. Throws {@link ToolFailure}
     * when nobody comes before `signal` aborts.
     */
    async ask(session: OpenSession, why: string, signal: AbortSignal): Promise<void> {
      const by = { call: callOf(session.user), reason: why.slice(0, 500) || null }
      // The fence grows each time someone takes control, however briefly.
      const { fence: fencingToken } = await ofSessions.read(store.read, session.id)
      let came = false
      want(session, why || 'The agent needs a person.')
      try {
        await store.write((tx) => ofSessions.request(tx, subjectOf(session), by))
        for (;;) {
          const now = await ofSessions.read(store.read, session.id)
          if (now.fence > fencingToken && !came) want(session, null)
          came = now.fence > fencingToken
          if (came && now.status === 'ai') return
          await clock.sleep(LOOK_MS, signal)
          signal.throwIfAborted()
        }
      } catch (error) {
        if (!came) await store.write((tx) => ofSessions.release(tx, subjectOf(session), { call: by.call }))
        if (!signal.aborted) throw error
        throw new ToolFailure(came ? 'A person still has control.' : 'No one took control in time.')
      } finally {
        want(session, null)
      }
    },

    /** Gives control to this viewer. Throws 409 while another viewer has it. */
    take: (session: OpenSession, viewer: string, user: UserId) =>
      store.write((tx) =>
        ofSessions.take(tx, subjectOf(session), { call: callOf(user), holder: { id: viewer, name: 'A viewer' } }),
      ),
    release: (session: OpenSession, user: UserId) =>
      store.write((tx) => ofSessions.release(tx, subjectOf(session), { call: callOf(user) })),

    /** Waits until the agent has control again. Throws {@link ToolFailure} after two minutes. */
    async wait(session: OpenSession, signal: AbortSignal): Promise<void> {
      const until = clock.monotonic() + MAX_WAIT_MS
      while ((await ofSessions.read(store.read, session.id)).status === 'human') {
        if (clock.monotonic() > until) throw new ToolFailure('A person controls this session now. Try again later.')
        signal.throwIfAborted()
        await clock.sleep(LOOK_MS, signal)
      }
    },
  }
}

export type Control = ReturnType<typeof createControl>

/** A viewer acts as the user who owns the session, because that user shared the link. */
function callOf(userId: UserId) {
  const caller: SessionCaller = { type: 'session', userId, sessionId: null, orgId: null, activeOrgId: null }
  return {
    caller,
    requestId: newRequestId(),
    route: 'WS /embed/browser/{id}/stream',
    signal: new AbortController().signal,
  }
}
