import { and, asc, eq, sql } from 'drizzle-orm'
import type { Draft, Files } from '../files'
import type { ArtifactId } from '../files/schema'
import type { Clock } from '../kernel/clock'
import type { Reader, Store, Tx } from '../kernel/store'
import { shorten } from '../kernel/text'
import type { OpenSession } from './host'
import { kindOfFocused, whatIsAt } from './in-page'
import { within } from './live'
import type { RemoteInputMessage } from './remote-input'
import type { BrowserSessionId } from './schema'
import { type ActionRow, browserActions } from './table'

/** Contract 28.3. */
const MAX_FRAMES = 500
const MAX_FRAME_BYTES = 60 * 1024
const MAX_INPUT = 1_000
const FRAME = { maxWidth: 960 }

/** What is kept of an action, besides its moment. */
export type Deed = Pick<ActionRow, 'actor' | 'tool' | 'target' | 'ok'> & { input: string; result: string; url: string }

type Deps = { files: Pick<Files, 'receive' | 'add' | 'discard'> }

/** Keeps what is done in sessions, each with a small picture of what the page showed then (contract 28.3). */
export function createRecorder({ files }: Deps) {
  return { picture, keep }

  /** A picture of the page in front, of 60 KB at most; null for a session that keeps none. */
  async function picture(session: OpenSession): Promise<Draft | null> {
    if (!session.recorded || session.frames >= MAX_FRAMES) return null
    const bytes = await within(smallPicture(session), null, 3_000)
    if (!bytes) return null
    session.frames += 1
    return files.receive(bytes, 'image/jpeg')
  }

  /** Adds an action to the record of a session, in the transaction that it commits with. */
  async function keep(
    tx: Tx,
    session: Pick<OpenSession, 'id' | 'owner' | 'recorded'>,
    at: number,
    deed: Deed,
    draft: Draft | null,
  ) {
    if (!session.recorded) return
    const about = { type: 'image' as const, filename: 'frame.jpg', engine: 'svc-core', model: 'svc-1-browser' }
    const frame = draft ? (await files.add(tx, session.owner, draft, about)).id : null
    await tx.insert(tx.of(browserActions)).values({
      session_id: session.id,
      owner: session.owner,
      at,
      ...deed,
      input: shorten(deed.input, MAX_INPUT),
      result: shorten(deed.result, MAX_INPUT),
      frame: frame as ArtifactId | null,
    } as never)
  }
}

export type Recorder = ReturnType<typeof createRecorder>

/** What was done in a session, oldest first. */
export function actionsOf(reader: Reader, owner: string, id: BrowserSessionId, limit = 2_000): Promise<ActionRow[]> {
  const t = reader.of(browserActions)
  const own = and(eq(t.session_id, id), sql`${t.owner} = ${owner}`)
  return reader.select().from(t).where(own).orderBy(asc(t.id)).limit(limit) as Promise<ActionRow[]>
}

/** Coarser until it is small enough. */
async function smallPicture({ live }: OpenSession): Promise<Uint8Array | null> {
  const page = live.page()
  const { width = 1280, height = 800 } = page.viewport() ?? {}
  for (const [quality, shrink] of [
    [60, 1],
    [35, 1],
    [30, 0.5],
  ] as const) {
    const scale = Math.min(1, FRAME.maxWidth / width) * shrink
    const bytes = await page.screenshot({ type: 'jpeg', quality, clip: { x: 0, y: 0, width, height, scale } })
    if (bytes.length <= MAX_FRAME_BYTES) return bytes
  }
  return null
}

type RemoteInputRecordDeps = {
  store: Store
  clock: Clock
  files: Pick<Files, 'discard'>
  recorder: Recorder
  onFault(error: unknown): void
}

/** Typing is one action until this long a silence. */
const PAUSE_MS = 1_500
const MAX_TYPED = 1_000
const LATE_MS = 500
const SECRET = '[typed into a password field]'

/** What a person does with the page, for the recording: clicks with their target, and typing in one piece (contract 28.3). */
export function createRemoteInputRecord({ store, clock, files, recorder, onFault }: RemoteInputRecordDeps) {
  /** One for each viewer: `before` is called before a message is done, `after` when it was, and `end` when it lets go. */
  return function of(session: OpenSession) {
    let typed = ''
    let secret = false
    let target: Deed['target'] = null
    let stop: () => void = () => undefined
    let keeping: Promise<void> = Promise.resolve()
    return { before, after, end: flush }

    async function before(message: RemoteInputMessage): Promise<void> {
      if (!session.recorded) return
      if (message.type === 'mouse' && message.kind === 'down') {
        flush()
        target = await targetAt(session, message.x, message.y)
      }
      // A field takes the place of another without a click where a key moves on: it is asked at each piece.
      if (message.type === 'text' || isDown(message)) {
        secret ||= (await within(session.live.page().evaluate(kindOfFocused), 'password', LATE_MS)) === 'password'
      }
    }

    function after(message: RemoteInputMessage, isSecret: boolean): void {
      if (!session.recorded) return
      if (message.type === 'fill') {
        flush()
        keep('type', isSecret ? SECRET : message.text.slice(0, MAX_TYPED), null)
      } else if (message.type === 'text') type(message.text)
      else if (isDown(message)) {
        type(`[${message.key}]`)
        if (message.key === 'Enter') flush()
      } else if (message.type === 'mouse' && message.kind === 'up') {
        keep('click', `${message.button} at ${message.x}, ${message.y}`, target)
      } else {
        const moved = inputOf(message)
        if (moved === null) return
        flush()
        keep(message.type, moved, null)
      }
    }

    function type(text: string): void {
      if (typed.length < MAX_TYPED) typed += text
      stop()
      stop = clock.after(PAUSE_MS, flush)
    }

    function flush(): void {
      stop()
      if (typed) keep('type', secret ? SECRET : typed, null)
      ;[typed, secret] = ['', false]
    }

    /** After those before it, and not in the way of the hand. */
    function keep(tool: string, input: string, on: Deed['target']): void {
      const at = clock.now()
      keeping = keeping.then(() => write(at, { tool, input, target: on })).catch(onFault)
    }

    async function write(at: number, { tool, input, target: on }: Pick<Deed, 'tool' | 'input' | 'target'>) {
      if (session.live.context.closed) return
      const frame = await recorder.picture(session)
      const url = session.live.page().url()
      const deed = { actor: 'person' as const, tool, input, target: on, ok: true, result: 'done', url }
      try {
        await store.write((tx) => recorder.keep(tx, session, at, deed, frame))
      } catch (error) {
        if (frame) await files.discard(frame).catch(() => undefined)
        throw error
      }
    }
  }
}

export type RemoteInputRecord = ReturnType<ReturnType<typeof createRemoteInputRecord>>

/** A key that does something; a modifier alone does not. */
const isDown = (message: RemoteInputMessage): message is Extract<RemoteInputMessage, { type: 'key' }> =>
  message.type === 'key' && message.kind === 'down' && !/^(?:Shift|Control|Alt|Meta)$/.test(message.key)

/** What is kept of a message that is one action by itself; null for those that are none. */
function inputOf(message: RemoteInputMessage): string | null {
  if (message.type === 'press') return message.ref
  if (message.type === 'tab') return message.id
  return message.type === 'back' || message.type === 'forward' || message.type === 'reload' ? '' : null
}

async function targetAt({ live }: OpenSession, x: number, y: number): Promise<Deed['target']> {
  const found = await within(live.page().evaluate(whatIsAt, x, y), null, LATE_MS)
  return found && { role: found.role.slice(0, 40), name: found.name.slice(0, 200) }
}
