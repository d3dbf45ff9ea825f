import { useEffect, useRef } from 'react'
import { useSend } from './api'
import { boot } from './boot'
import { createValue } from './value'

/** A key, what it does in words, and how. `keys` is one key, two in a row, or one with Alt: `/`, `g o`, `Alt+1`. */
export type Key = { keys: string; label: string; run(): void }

/** Whether single keys do anything (SC 2.1.4): a setting of the reader. */
const shortcuts = createValue(boot.shortcuts)

/** The setting, and what changes it on every device of the reader. */
export function useShortcuts(): [isOn: boolean, set: (isOn: boolean) => void] {
  const save = useSend<unknown, { shortcuts: boolean }>('PATCH', '/api/v1/settings', ['/settings'])
  const set = (isOn: boolean) => {
    shortcuts.set(isOn)
    save.mutate({ shortcuts: isOn }, { onError: () => shortcuts.set(!isOn) })
  }
  return [shortcuts.use(), set]
}

/** The keys of the frame and of the screen that is shown; the help and the palette read this table too. */
export const table = createValue<readonly Key[]>([])

const SEQUENCE_MS = 1_000

/** Adds keys while the component that calls this is shown. No key means two things in one place. */
export function useKeys(keys: readonly Key[]): void {
  const latest = useRef(keys)
  latest.current = keys
  const names = keys.map((key) => key.keys).join('|')
  // biome-ignore lint/correctness/useExhaustiveDependencies: the names stand for the keys
  useEffect(() => {
    const own = latest.current.map(({ keys, label }) => ({
      keys,
      label,
      run: () => latest.current.find((key) => key.keys === keys)?.run(),
    }))
    table.set([...table.get(), ...own])
    return () => table.set(table.get().filter((key) => !own.includes(key)))
  }, [names])
}

const FIELDS = 'input, textarea, select, [contenteditable="true"], [role="menu"], [role="listbox"], [role="textbox"]'

/** Listens for the keys of the table; `palette` is called for Ctrl or Command with K. */
export function listenForKeys(palette: () => void): () => void {
  let first: { key: string; at: number } | null = null
  const press = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault()
      palette()
      return
    }
    // By its place on the keyboard: with Alt some systems write another sign. It works in fields too.
    const chord = event.altKey && !event.ctrlKey && !event.metaKey && `Alt+${event.code.replace('Digit', '')}`
    const held = chord && !document.querySelector('.veil') && table.get().findLast(({ keys }) => keys === chord)
    if (held) {
      event.preventDefault()
      held.run()
      return
    }
    const isTyping = (event.target as Element | null)?.closest?.(FIELDS)
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping || event.defaultPrevented) return
    if (!shortcuts.get() || document.querySelector('.veil')) return
    const isSecond = first !== null && event.timeStamp - first.at < SEQUENCE_MS
    const pressed = isSecond ? `${first!.key} ${event.key}` : event.key
    first = null
    const found = table.get().findLast(({ keys }) => keys === pressed)
    if (found) {
      event.preventDefault()
      found.run()
    } else if (table.get().some(({ keys }) => keys.startsWith(`${event.key} `))) {
      first = { key: event.key, at: event.timeStamp }
    }
  }
  addEventListener('keydown', press)
  return () => removeEventListener('keydown', press)
}
