import { type Key, Text, useApp, useInput, usePaste, useWindowSize } from 'ink'
import { createElement, useEffect, useSyncExternalStore } from 'react'
import type { Store } from './data/store'

/** What only a running terminal can do. */
export type Controls = { exit(): void; suspend(): void }

type Props = { store: Store; controls(controls: Controls): void }

/** The screen: one text, because everything is placed before it comes here; and the keys. */
export function App({ store, controls }: Props) {
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
  // Without JSX, whose form depends on the mode in which it is read.
  return createElement(Text, { wrap: 'truncate' }, frame)
}

/** Keys that came at once, as over a slow line, are one input; each is a key of its own. */
function pressedIn(input: string, key: Key): { key: string; text: string }[] {
  const letters = [...input]
  const isOne = letters.length < 2 || input === F5 || key.ctrl || key.meta || NAMED.some(([flag]) => key[flag])
  // What the key writes in a text; keys that have another meaning write nothing.
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

function nameOf(input: string, key: Key): string {
  if (key.tab) return key.shift ? 'shift-tab' : 'tab'
  const named = NAMED.find(([flag]) => key[flag])
  if (named) return named[1]
  if (key.ctrl) return `ctrl-${input.toLowerCase()}`
  if (input === F5) return 'f5'
  return input === ' ' ? 'space' : input
}
