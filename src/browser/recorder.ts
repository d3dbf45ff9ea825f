import { and, asc, eq, sql } from 'drizzle-orm'
import type { Draft } from '../files'
import type { ArtifactId } from '../files/schema'
import { errorFields } from '../kernel/log'
import type { Reader, Tx } from '../kernel/store'
import { shorten } from '../kernel/text'
import type { Deps } from './deps'
import type { OpenSession } from './host'
import { kindOfFocused, whatIsAt } from './in-page'
import { within } from './live'
import type { RemoteInputMessage } from './remote-input'
import type { BrowserSessionId } from './schema'
import { type ActionRow, browserActions } from './table'

/** Limits of docs/api.md 28.3. */
const MAX_FRAMES = 500
const MAX_FRAME_BYTES = 60 * 1024
const MAX_INPUT = 1_000
const FRAME = { maxWidth: 960 }

/** The recorded data of an action, besides its time. */
export type RecordedAction = Pick<ActionRow, 'actor' | 'tool' | 'target' | 'ok'> & {
  input: string
  result: string
  url: string
}

/** A small picture of the front page, of at most 60 KB. Null for a session that is not recorded (docs/api.md 28.3). */
export async function pictureOf({ files }: Pick<Deps, 'files'>, session: OpenSession): Promise<Draft | null> {
  if (!session.recorded || session.frames >= MAX_FRAMES) return null
  const bytes = await within(smallPicture(session), null, 3_000)
  if (!bytes) return null
  session.frames += 1
  return files.receive(bytes, 'image/jpeg')
}

/** Adds an action to the recording of a session, in the caller's transaction (docs/api.md 28.3). */
export async function keepAction(
  { files }: Pick<Deps, 'files'>,
  tx: Tx,
  { id, owner, recorded }: OpenSession,
  at: number,
  deed: RecordedAction,
  draft: Draft | null,
): Promise<void> {
  if (!recorded) return
  const about = { type: 'image' as const, filename: 'frame.jpg', engine: 'svc-core', model: 'svc-1-browser' }
  const frame = draft ? (await files.add(tx, owner, draft, about)).id : null
  const [input, result] = [shorten(deed.input, MAX_INPUT), shorten(deed.result, MAX_INPUT)]
  const row = { session_id: id, owner, at, ...deed, input, result, frame: frame as ArtifactId | null }
  await tx.insert(tx.of(browserActions)).values(row as never)
}

/** The actions of a session, oldest first. */
export function actionsOf(reader: Reader, owner: string, id: BrowserSessionId, limit = 2_000): Promise<ActionRow[]> {
  const t = reader.of(browserActions)
  const ofSession = and(eq(t.session_id, id), sql`${t.owner} = ${owner}`)
  return reader.select().from(t).where(ofSession).orderBy(asc(t.id)).limit(limit) as Promise<ActionRow[]>
}

/** Reduces quality and size until the picture is small enough. */
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

/** Typing counts as one action until a pause of this length. */
const PAUSE_MS = 1_500
const MAX_TYPED = 1_000
const LATE_MS = 500
const SECRET = '[typed into a password field]'

/**
 * Records one viewer's input: clicks with their target, and typing as one piece (docs/api.md 28.3). Call `before`
 * before a message is executed, `after` afterwards, and `end` when the viewer returns control.
 */
export function recordRemoteInput(deps: Pick<Deps, 'store' | 'clock' | 'files' | 'log'>, session: OpenSession) {
  const { store, clock, files, log } = deps
  let typed = ''
  let secret = false
  let target: RecordedAction['target'] = null
  let stop: () => void = () => undefined
  let keeping: Promise<void> = Promise.resolve()
  return { before, after, end: flush }

  async function before(message: RemoteInputMessage): Promise<void> {
    if (!session.recorded) return
    if (message.type === 'mouse' && message.kind === 'down') {
      flush()
      const found = await within(session.live.page().evaluate(whatIsAt, message.x, message.y), null, LATE_MS)
      target = found && { role: found.role.slice(0, 40), name: found.name.slice(0, 200) }
    }
    // The focus can move between fields by keyboard, without a click. So the field kind is checked for each piece.
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

  /** Writes after the earlier entries, without delaying the viewer's input. */
  function keep(tool: string, input: string, on: RecordedAction['target']): void {
    const at = clock.now()
    keeping = keeping
      .then(() => write(at, { tool, input, target: on }))
      .catch((error: unknown) => log.warn(errorFields(error), 'what a person did was not recorded'))
  }

  async function write(at: number, { tool, input, target: on }: Pick<RecordedAction, 'tool' | 'input' | 'target'>) {
    if (session.live.context.closed) return
    const frame = await pictureOf(deps, session)
    const url = session.live.page().url()
    const deed = { actor: 'person' as const, tool, input, target: on, ok: true, result: 'done', url }
    try {
      await store.write((tx) => keepAction(deps, tx, session, at, deed, frame))
    } catch (error) {
      if (frame) await files.discard(frame).catch(() => undefined)
      throw error
    }
  }
}

export type RemoteInputRecord = ReturnType<typeof recordRemoteInput>

/** True for a key press with an effect. A modifier alone has none. */
const isDown = (message: RemoteInputMessage): message is Extract<RemoteInputMessage, { type: 'key' }> =>
  message.type === 'key' && message.kind === 'down' && !/^(?:Shift|Control|Alt|Meta)$/.test(message.key)

/** The recorded input of a message that is a complete action. Null for other messages. */
function inputOf(message: RemoteInputMessage): string | null {
  if (message.type === 'press') return message.ref
  if (message.type === 'tab') return message.id
  return message.type === 'back' || message.type === 'forward' || message.type === 'reload' ? '' : null
}
