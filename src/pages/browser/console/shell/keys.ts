import { useEffect, useRef } from 'react'
import { useSend } from './api'
import { boot } from './boot'
import { createValue } from './value'

/** A key, its description, and its action. `keys`: one key, a sequence of two, or Alt and a key (`g o`, `Alt+1`). */
export type Key = { keys: string; label: string; run(): void }

/** True if single keys are enabled (SC 2.1.4), which the reader can set. */
const shortcuts = createValue(boot.shortcuts)

/** The setting, and a function that changes it on all devices of the reader. */
export function useShortcuts(): [isOn: boolean, set: (isOn: boolean) => void] {
  const save = useSend<unknown, { shortcuts: boolean }>('PATCH', '/api/v1/settings', ['/settings'])
  const set = (isOn: boolean) => {
    shortcuts.set(isOn)
    save.mutate({ shortcuts: isOn }, { onError: () => shortcuts.set(!isOn) })
  }
  return [shortcuts.use(), set]
}

/** The keys of the frame and of the current screen. The help and the palette use this table too. */
export const table = createValue<readonly Key[]>([])

const SEQUENCE_MS = 1_000

/** Adds keys while the calling component is shown. No key has two meanings in one place. */
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

/** Listens for the keys of the table. Calls `palette` for Ctrl or Command with K. */
export function listenForKeys(palette: () => void): () => void {
  let first: { key: string; at: number } | null = null
  const press = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault()
      palette()
      return
    }
    // By the position on the keyboard, because with Alt some systems type another character. Works in fields too.
    const chord = event.altKey && !event.ctrlKey && !event.metaKey && `Alt+${event.code.replace(/^(Digit|Key)/, '')}`
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
