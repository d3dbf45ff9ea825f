import type { Files } from '../files'
import type { Clock } from '../kernel/clock'
import type { Store } from '../kernel/store'
import type { OpenSession } from './host'
import { kindOfFocused, whatIsAt } from './in-page'
import { within } from './live'
import type { Deed, Recorder } from './recorder'
import type { HandMessage } from './remote-input'

type Deps = {
  store: Store
  clock: Clock
  files: Pick<Files, 'discard'>
  recorder: Recorder
  onFault(error: unknown): void
}

/** Typing is one action until this long a silence. */
const PAUSE_MS = 1_500
const MOST_TYPED = 1_000
const LATE_MS = 500
const SECRET = '[typed into a password field]'

/** What a person does with the page, for the recording: clicks with their target, and typing in one piece (contract 28.3). */
export function createHandRecord({ store, clock, files, recorder, onFault }: Deps) {
  /** One for each viewer: `before` is called before a message is done, `after` when it was, and `end` when it lets go. */
  return function of(session: OpenSession) {
    let typed = ''
    let secret = false
    let target: Deed['target'] = null
    let stop: () => void = () => undefined
    let keeping: Promise<void> = Promise.resolve()
    return { before, after, end: flush }

    async function before(said: HandMessage): Promise<void> {
      if (!session.recorded) return
      if (said.type === 'mouse' && said.kind === 'down') {
        flush()
        target = await targetAt(session, said.x, said.y)
      }
      // A field takes the place of another without a click where a key moves on: it is asked at each piece.
      if (said.type === 'text' || isDown(said)) {
        secret ||= (await within(session.live.page().evaluate(kindOfFocused), 'password', LATE_MS)) === 'password'
      }
    }

    function after(said: HandMessage, isSecret: boolean): void {
      if (!session.recorded) return
      if (said.type === 'fill') {
        flush()
        keep('type', isSecret ? SECRET : said.text.slice(0, MOST_TYPED), null)
      } else if (said.type === 'text') type(said.text)
      else if (isDown(said)) {
        type(`[${said.key}]`)
        if (said.key === 'Enter') flush()
      } else if (said.type === 'mouse' && said.kind === 'up') {
        keep('click', `${said.button} at ${said.x}, ${said.y}`, target)
      } else {
        const moved = inputOf(said)
        if (moved === null) return
        flush()
        keep(said.type, moved, null)
      }
    }

    function type(text: string): void {
      if (typed.length < MOST_TYPED) typed += text
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

export type HandRecord = ReturnType<ReturnType<typeof createHandRecord>>

/** A key that does something; a modifier alone does not. */
const isDown = (said: HandMessage): said is Extract<HandMessage, { type: 'key' }> =>
  said.type === 'key' && said.kind === 'down' && !/^(?:Shift|Control|Alt|Meta)$/.test(said.key)

/** What is kept of a message that is one action by itself; null for those that are none. */
function inputOf(said: HandMessage): string | null {
  if (said.type === 'press') return said.ref
  if (said.type === 'tab') return said.id
  return said.type === 'back' || said.type === 'forward' || said.type === 'reload' ? '' : null
}

async function targetAt({ live }: OpenSession, x: number, y: number): Promise<Deed['target']> {
  const found = await within(live.page().evaluate(whatIsAt, x, y), null, LATE_MS)
  return found && { role: found.role.slice(0, 40), name: found.name.slice(0, 200) }
}
