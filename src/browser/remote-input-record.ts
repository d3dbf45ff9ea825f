import type { Files } from '../files'
import type { Clock } from '../kernel/clock'
import type { Store } from '../kernel/store'
import type { OpenSession } from './host'
import { kindOfFocused, whatIsAt } from './in-page'
import { within } from './live'
import type { Deed, Recorder } from './recorder'
import type { RemoteInputMessage } from './remote-input'

type Deps = {
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
export function createRemoteInputRecord({ store, clock, files, recorder, onFault }: Deps) {
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
