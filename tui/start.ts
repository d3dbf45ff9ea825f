import { type Key, render, Text, useApp, useInput, usePaste, useWindowSize } from 'ink'
import { createElement, useEffect, useSyncExternalStore } from 'react'
import type { Clock } from '../src/kernel/clock'
import { clean } from '../src/kernel/text'
import type { Host } from './data/connection'
import { cleaned, createConnection } from './data/connection'
import { createStore, type Store } from './data/store'
import type { Keymap } from './keymap'
import { runScreenReaderMode } from './screen-reader'
import type { Effect } from './state/model'
import {
  type Model,
  type Options,
  type PaletteCommand,
  type Screen,
  startModel,
  topicRequestOf,
  type Where,
} from './state/model'

/** Functions that only a running terminal app provides. */
type Controls = { exit(): void; suspend(): void }

type Props = { store: Store; controls(controls: Controls): void }

const F5 = '[15~'

const NAMED = [
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['pageUp', 'pageup'],
  ['pageDown', 'pagedown'],
  ['home', 'home'],
  ['end', 'end'],
  ['return', 'enter'],
  ['escape', 'esc'],
  ['backspace', 'backspace'],
  ['delete', 'backspace'],
] as const satisfies readonly (readonly [keyof Key, string])[]

/** Options to start a dashboard. */
export type Start = {
  host: Host
  where: Where
  options: Options
  commands: readonly PaletteCommand[]
  keymap: Keymap
  /** Texts that `/name` inserts into a reply. */
  replies?: ReadonlyMap<string, string>
  canWrite: boolean
  screen: Screen
  /** Seconds between repaints of changes. */
  rate: number
  /** A command line whose output is shown at the start. */
  first?: readonly string[]
  clock: Clock
}

const TICK_MS = 1_000
const STILL_MS = 10_000
/** How long the cursor rests on a row before its details are loaded. */
const REST_MS = 400
const MAX_FPS = 10
const ALTERNATE_FROM_THE_TOP = '\u001b[?1049h\u001b[2J\u001b[H'

/**
 * Runs the dashboard in this terminal until the user leaves. Returns the profile to continue with, or null. @public
 * Loaded by the command `dashboard` only.
 */
export async function startDashboard({ host, clock, first, ...start }: Start): Promise<string | null> {
  const { stdout } = process
  const size = { columns: stdout.columns ?? 80, rows: stdout.rows ?? 24 }
  const model: Model = startModel({ ...start, ...size, now: clock.now() })
  let controls: Controls | null = null
  const over = new AbortController()
  let next: string | null = null
  let cancelLook: () => void = () => undefined
  const store = createStore({ start: model, perform, after: clock.after, crashed: host.crashed })
  const connection = createConnection({
    host,
    wanted: () => topicRequestOf(store.model()),
    onEvent: store.dispatch,
    now: clock.now,
    sleep: clock.sleep,
  })
  // Shows the screen before the first request to the server.
  const shownTillLeft = (start.options.screenReader ? runScreenReaderMode(store, over) : shown()).finally(() => {
    over.abort()
    cancelLook()
    connection.stop()
  })
  for (const ended of await Promise.allSettled([shownTillLeft, supply(), tick()])) {
    if (ended.status === 'rejected') throw ended.reason
  }
  return next

  /** A problem with key or address ends the dashboard with the usual error. Later interruptions are waited out. */
  async function supply(): Promise<void> {
    try {
      await host.read('status', over.signal)
    } catch (error) {
      if (over.signal.aborted) return
      leave()
      throw error
    }
    if (first) perform({ type: 'run', argv: first, as: 'shown', write: false })
    await connection.run()
  }

  function leave(): void {
    controls?.exit()
    over.abort()
  }

  function take(newControls: Controls): void {
    controls = newControls
  }

  async function shown(): Promise<void> {
    // Ink draws at the cursor position, which a shell leaves anywhere.
    stdout.write(ALTERNATE_FROM_THE_TOP)
    const app = render(createElement(App, { store, controls: take }), {
      alternateScreen: true,
      incrementalRendering: true,
      exitOnCtrlC: false,
      patchConsole: false,
      interactive: true,
      maxFps: MAX_FPS,
    })
    over.signal.addEventListener('abort', () => app.unmount(), { once: true })
    await app.waitUntilExit()
  }

  async function tick(): Promise<void> {
    const pause = start.options.motion && !start.options.screenReader ? TICK_MS : STILL_MS
    while (!over.signal.aborted) {
      await clock.sleep(pause, over.signal)
      store.dispatch({ type: 'ticked', now: clock.now() })
    }
  }

  function perform(effect: Effect): void {
    switch (effect.type) {
      case 'profile':
        next = effect.name
        leave()
        break
      case 'quit':
        leave()
        break
      case 'suspend':
        controls?.suspend()
        break
      case 'reconnect':
        connection.restart()
        break
      case 'copy':
        stdout.write(`\u001b]52;c;${Buffer.from(effect.text).toString('base64')}\u0007`)
        break
      case 'look':
        cancelLook()
        cancelLook = clock.after(REST_MS, () => void work({ type: 'read', name: effect.path, path: effect.path }))
        break
      case 'bell':
        stdout.write('\u0007')
        break
      default:
        void work(effect)
    }
  }

  async function work(effect: Effect & { type: 'read' | 'run' | 'save' }): Promise<void> {
    if (effect.type === 'read') {
      const read = await host.read(effect.path).then(
        (value) => ({ value: cleaned(value), problem: null }),
        (error: unknown) => ({ value: null, problem: clean(String((error as Error).message)) }),
      )
      store.dispatch({ type: 'read', name: effect.name, ...read })
    } else if (effect.type === 'run') {
      const { exitCode, out, err } = await host.run(effect.argv, effect.as !== 'shown')
      store.dispatch({ type: 'ran', argv: effect.argv, exitCode, out: clean(out), err: clean(err), as: effect.as })
    } else {
      const path = await host
        .save(effect.text)
        .catch((error: unknown) => `nowhere: ${String((error as Error).message)}`)
      store.dispatch({ type: 'said', text: `written to ${path}` })
    }
  }
}

/** The screen as one text, because all placement happens before, and the keyboard input. */
function App({ store, controls }: Props) {
  const frame = useSyncExternalStore(store.subscribe, store.frame)
  const { columns, rows } = useWindowSize()
  const { exit, suspendTerminal } = useApp()
  useEffect(() => store.dispatch({ type: 'resized', columns, rows }), [store, columns, rows])
  useEffect(() => {
    const suspend = () => void suspendTerminal(async () => void process.kill(process.pid, 'SIGTSTP'))
    controls({ exit: () => exit(), suspend })
  }, [controls, exit, suspendTerminal])
  useInput((input, key) => {
    for (const pressed of pressedIn(input, key)) store.dispatch({ type: 'key', ...pressed })
  })
  usePaste((text) => store.dispatch({ type: 'pasted', text }))
  // Without JSX, whose compiled form depends on the build mode.
  return createElement(Text, { wrap: 'truncate' }, frame)
}

/** Splits one input into keys. Over a slow line, several keys can arrive as one input. */
function pressedIn(input: string, key: Key): { key: string; text: string }[] {
  const letters = [...input]
  const isOne = letters.length < 2 || input === F5 || key.ctrl || key.meta || NAMED.some(([flag]) => key[flag])
  // `text` is what the key types. Special keys type nothing.
  if (isOne)
    return [
      {
        key: nameOf(input, key),
        text: key.ctrl || key.meta || key.tab || NAMED.some(([flag]) => key[flag]) ? '' : input,
      },
    ]
  return letters.map((letter) => {
    if (letter === '\r' || letter === '\n') return { key: 'enter', text: '' }
    return { key: letter === ' ' ? 'space' : letter === '\t' ? 'tab' : letter, text: letter === '\t' ? '' : letter }
  })
}

function nameOf(input: string, key: Key): string {
  if (key.tab) return key.shift ? 'shift-tab' : 'tab'
  const named = NAMED.find(([flag]) => key[flag])
  if (named) return named[1]
  if (key.ctrl) return `ctrl-${input.toLowerCase()}`
  if (input === F5) return 'f5'
  return input === ' ' ? 'space' : input
}
