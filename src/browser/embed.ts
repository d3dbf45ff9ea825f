import { randomBase62 } from '../kernel/crypto'
import { AppError } from '../kernel/errors'
import { newRequestId } from '../kernel/ids'
import { isConfigured } from './chromium'
import type { Deps } from './deps'
import { browserErrors } from './errors'
import type { OpenSession } from './host'
import { playerOf, type Rights } from './present'
import { type RemoteInputRecord, recordRemoteInput } from './recorder'
import { needsControl, readMessage, useRemoteInput } from './remote-input'
import { sessionRepository as rows } from './repository'
import { BrowserSessionId, type LiveView, type Recording } from './schema'
import { addressOf, hasAccess, liveOf, recordingOf } from './sessions'
import type { SessionRow } from './table'
import { createShow, type Show } from './viewers'

/** The socket of a viewer, as the framework provides it. */
type Socket = {
  sendText(text: string): unknown
  sendBinary(bytes: Uint8Array): unknown
  close(code: number, why: string): void
}

const UNREACHED = 'the live view cannot be reached'
const MAX_WAITING = 50

/**
 * Forwards a viewer to the process that runs the session. Passes messages on unchanged in both directions. Each frame
 * waits for the viewer's acknowledgement, so frames do not pile up here.
 */
function forward(address: string, id: string, token: string, socket: Socket) {
  const url = URL.parse(`/embed/browser/${id}/stream`, address)!
  url.protocol = url.protocol.replace('http', 'ws')
  const there = new WebSocket(url)
  const waiting: string[] = []
  let isOver = false
  there.binaryType = 'arraybuffer'
  there.onopen = () => {
    // Tells the other process not to forward again.
    there.send(JSON.stringify({ type: 'hello', token, forwarded: true }))
    for (const text of waiting.splice(0)) there.send(text)
  }
  there.onmessage = ({ data }) =>
    void (typeof data === 'string' ? socket.sendText(data) : socket.sendBinary(new Uint8Array(data as ArrayBuffer)))
  there.onclose = ({ code, reason }) => {
    if (isOver) return
    isOver = true
    // The other server never closes with a code below 1007. Such a code means a lost connection.
    socket.close(code < 1007 ? 1013 : code, code < 1007 ? UNREACHED : reason)
  }
  return {
    message(value: unknown): void {
      const text = JSON.stringify(value)
      if (there.readyState === WebSocket.OPEN) there.send(text)
      else if (waiting.length < MAX_WAITING) waiting.push(text)
    },
    left(): void {
      isOver = true
      there.close()
    },
  }
}

export type Guest = { row: SessionRow; rights: Rights; until: number }

const HELLO_MS = 5_000
const MAX_A_SECOND = 300
/** Minimum time between two records of rejected links. Otherwise a flood of them would fill an owner's audit chain. */
const REFUSED_MS = 60_000

/** Pages and streams of live views, for everyone with a link (docs/api.md 16.3, docs/promises.md I35). */
export function createEmbed(deps: Deps) {
  const { store, clock, audit, host, tokens, control: wheel } = deps
  const shows = new Map<OpenSession, Show>()
  return { admit, live, connect, recording }

  /** The guest with this token. Throws 401 `invalid_token`, also for a session that has ended. */
  async function admit(id: string, token: string): Promise<Guest> {
    const row = BrowserSessionId.is(id) ? await rows.find(store.read, null, id) : undefined
    const read = row && tokens.read(token, { session: row.id, user: row.user_id }, clock.now())
    if (!row || !read || row.state === 'ended') return refuse(row)
    return { row, ...read }
  }

  /** Records the use of an invalid link in the owner's audit chain, and throws 401. */
  async function refuse(row: SessionRow | undefined): Promise<never> {
    const now = clock.now()
    if (row && (row.refused_at ?? 0) <= now - REFUSED_MS) {
      await store.write(async (tx) => {
        if (!(await rows.refused(tx, row.id, now, REFUSED_MS))) return
        const about = { scope: row.owner, requestId: newRequestId(), userId: row.user_id, keyId: row.key_id }
        await audit.recordUnattended(tx, about, {
          action: 'browser.link_refused',
          entityType: 'browser_session',
          entityId: row.id,
          input: { metadata: { session: row.state } },
          output: { status: 401 },
        })
      })
    }
    throw browserErrors.invalidEmbedToken()
  }

  /** The recording of a session, also of an ended one, for everyone with the link of its player. */
  async function recording(id: string, token: string): Promise<Recording> {
    const row = BrowserSessionId.is(id) ? await rows.find(store.read, null, id) : undefined
    const bound = row && { session: row.id, user: playerOf(row, await hasAccess(deps, row)) }
    if (!row || !tokens.read(token, bound!, clock.now())) return refuse(row)
    return recordingOf(deps, row)
  }

  async function live(id: string, token: string, fresh: boolean): Promise<LiveView> {
    return liveOf(deps, (await admit(id, token)).row, fresh)
  }

  /** One viewer, from the first message to the end. The first message carries the token, so that no log contains it. */
  function connect(id: string, socket: Socket) {
    const viewer = randomBase62(12)
    let session: OpenSession | null = null
    let guest: Guest | null = null
    let show: Show | null = null
    let record: RemoteInputRecord | null = null
    let away: ReturnType<typeof forward> | null = null
    let [second, count] = [0, 0]
    let closed = false
    let turn: Promise<void> = Promise.resolve()
    const stopWaiting = clock.after(HELLO_MS, () => end(1008, 'no token was sent'))
    let stopAtExpiry: () => void = () => undefined

    function end(code: number, why: string): void {
      if (!closed) socket.close(code, why)
    }

    async function hello(token: string, isForwarded: boolean): Promise<void> {
      guest = await admit(id, token)
      session = host.find(guest.row.id) ?? null
      if (!session) return elsewhere(guest.row, token, isForwarded)
      stopWaiting()
      record = recordRemoteInput(deps, session)
      stopAtExpiry = clock.after(Math.min(guest.until - clock.now(), 2 ** 31 - 1), () =>
        end(4401, 'the link has expired'),
      )
      session.enders.add(() => clock.after(50, () => end(4410, 'the session has ended')))
      show = shows.get(session) ?? createShow(session, () => shows.delete(session!))
      shows.set(session, show)
      const joined = show.join({
        id: viewer,
        mayControl: guest.rights === 'control',
        sendText: (message) => void socket.sendText(JSON.stringify(message)),
        sendFrame: (frame) => void socket.sendBinary(frame),
      })
      if (!joined) return end(4429, 'too many viewers in this session')
      socket.sendText(
        JSON.stringify({ type: 'hello', viewer, may_control: guest.rights === 'control', version: session.version }),
      )
    }

    /** Another process may run the session. A viewer that was forwarded here is not forwarded again. */
    async function elsewhere(row: SessionRow, token: string, isForwarded: boolean): Promise<void> {
      const address = isForwarded ? null : await addressOf(deps, row)
      if (closed) return
      if (!address && !isConfigured(deps.settings)) return end(4501, 'there is no browser')
      if (!address) return end(1013, 'the live view cannot be reached')
      stopWaiting()
      away = forward(address, row.id, token, socket)
    }

    async function obey(value: unknown): Promise<void> {
      const message = readMessage(value)
      if (!message || !session || !show || !guest) return end(1008, 'not a message of a live view')
      if (message.type === 'ack') return show.acked(viewer)
      if (message.type === 'tree') return void socket.sendText(JSON.stringify(await show.textOf()))
      if (message.type === 'refresh') return show.tell()
      if (guest.rights !== 'control') return end(1008, 'this link is read-only')
      if (message.type === 'take') return void (await wheel.take(session, viewer, guest.row.user_id))
      if (message.type === 'release') {
        record?.end()
        return void (await wheel.release(session, guest.row.user_id))
      }
      if (!needsControl(message) || session.holder !== viewer) return
      session.lastActive = clock.now()
      await record?.before(message)
      record?.after(message, await useRemoteInput(session, message))
    }

    async function heed(value: unknown): Promise<void> {
      if (closed) return
      if (away) return away.message(value)
      try {
        const first = value as { type?: unknown; token?: unknown; forwarded?: unknown } | null
        if (!session && first?.type === 'hello' && typeof first.token === 'string') {
          return await hello(first.token, first.forwarded === true)
        }
        await obey(value)
      } catch (error) {
        if (error instanceof AppError && error.kind === 'unauthenticated') return end(4401, 'the link is not valid')
        if (error instanceof AppError && error.kind === 'conflict') {
          return void socket.sendText(JSON.stringify({ type: 'busy', message: 'Someone else has control.' }))
        }
        // The page may close during an input. This is not an error.
      }
    }

    return {
      /** Processes messages in order. Only acknowledgements of frames do not wait. */
      message(value: unknown): Promise<void> {
        const now = Math.floor(clock.monotonic() / 1_000)
        if (now !== second) [second, count] = [now, 0]
        count += 1
        if (count > MAX_A_SECOND) {
          end(1008, 'too many messages')
          return turn
        }
        if (show && (value as { type?: unknown } | null)?.type === 'ack') return heed(value)
        turn = turn.then(() => heed(value))
        return turn
      },
      left(): void {
        closed = true
        away?.left()
        stopWaiting()
        stopAtExpiry()
        record?.end()
        show?.leave(viewer)
        if (session && guest && session.holder === viewer)
          void wheel.release(session, guest.row.user_id).catch(() => undefined)
      },
    }
  }
}
