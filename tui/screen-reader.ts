import { createInterface } from 'node:readline'
import type { Store } from './data/store'
import { LISTS, TITLES } from './screens'
import { needsOf, spokenNeed } from './screens/needs'
import { type Model, SCREENS } from './state/model'
import { shownRows } from './state/rows'

/** Mode for screen readers: no screen, one line for each change, and words in place of keys (docs/operating.md 3.8). */
export async function runScreenReaderMode(store: Store, over: AbortController): Promise<void> {
  const lines = createInterface({ input: process.stdin })
  const say = (text: string) => void process.stdout.write(`${text}\n`)
  let notice = store.model()
  say(
    `svc-admin dashboard. Type a screen: ${SCREENS.join(', ')}. list reads its rows. help lists the commands, such as keys list. write allows changes, read-only stops them, and quit exits.`,
  )
  const stop = store.subscribe(() => {
    const now = store.model()
    for (const text of changes(notice, now)) say(text)
    notice = now
  })
  lines.on('line', (text) => answer(store, text.trim(), say))
  lines.on('close', () => over.abort())
  await new Promise<void>((resolve) => over.signal.addEventListener('abort', () => resolve(), { once: true }))
  stop()
  lines.close()
}

function answer(store: Store, text: string, say: (text: string) => void): void {
  const screen = SCREENS.find((name) => name === text.toLowerCase())
  if (screen) {
    store.dispatch({ type: 'went', screen })
    say(`${TITLES[screen][0]}.`)
  } else if (text === 'quit' || text === 'q') {
    store.dispatch({ type: 'key', key: 'ctrl-c', text: '' })
  } else if (text === 'list') {
    for (const row of rowsOf(store.model())) say(row)
  } else if (text !== '') {
    // Closes what the previous command left open, because it would read these words as keys.
    if (['output', 'palette'].includes(store.model().mode.type)) store.dispatch({ type: 'key', key: 'esc', text: '' })
    store.dispatch({ type: 'key', key: ':', text: ':' })
    store.dispatch({ type: 'pasted', text })
    store.dispatch({ type: 'key', key: 'enter', text: '' })
  }
}

/** The rows of the screen, each as one sentence. */
function rowsOf(model: Model): string[] {
  const rows = shownRows(model)
  if (!rows.length) return ['The list is empty.']
  const view = LISTS[model.screen]
  if (!view)
    return rows.map((row) =>
      Object.values(row)
        .filter((value) => typeof value !== 'object')
        .join(', '),
    )
  return rows.map((row) =>
    view.columns.map((column) => `${column.header.toLowerCase()} ${column.cell(row, model).text.trim()}`).join(', '),
  )
}

/** All changes between two states, one sentence each. */
export function changes(before: Model, now: Model): string[] {
  const messages: string[] = []
  if (before.link.state !== now.link.state) {
    const { state, problem } = now.link
    messages.push(state === 'offline' ? `The server stopped answering: ${problem}.` : `The connection is ${state}.`)
  }
  for (const { at, text } of now.messages)
    if (!before.messages.some((one) => one.at === at && one.text === text)) messages.push(text)
  const old = new Map(needsOf(before).map(({ kind, count }) => [kind, count]))
  for (const need of needsOf(now))
    if (need.count > (old.get(need.kind) ?? 0)) messages.push(`New: ${spokenNeed(need)}.`)
  const known = new Set((before.topics[before.screen]?.rows ?? []).map(({ id }) => id))
  const fresh = (now.topics[now.screen]?.rows ?? []).filter(({ id }) => !known.has(id)).length
  if (fresh && known.size && before.screen === now.screen) messages.push(`${fresh} new in ${TITLES[now.screen][0]}.`)
  const spoken = before.mode.type === 'output' ? before.mode.lines : null
  if (now.mode.type === 'output' && now.mode.lines !== spoken) messages.push(...now.mode.lines)
  return messages
}
