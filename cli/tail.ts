import { EXIT } from './exit'
import { formatOf } from './globals'
import type { Column } from './output/columns'
import { safeJson } from './output/json'
import { isStructured } from './output/print'
import type { Shell } from './shell'

const PAUSE_MS = 1_000

type Tailed<Item> = {
  columns: readonly Column[]
  /** Newest first. */
  newest(): Promise<readonly Item[]>
  /** How many that are there are shown at first. */
  last: number
  /** What is shown, in the closing sentence: `event`. */
  what: string
}

/** Prints what comes, oldest first, until Ctrl-C: a table on a terminal, else a line of JSON each. */
export async function tail<Item extends { id: string }>(shell: Shell, { columns, newest, last, what }: Tailed<Item>) {
  const asJson = isStructured(formatOf(shell.globals)) || !shell.io.outIsTty
  const feed = asJson ? null : shell.print.feed(columns)
  let seen: ReadonlySet<string> = new Set()
  let shown = 0
  for (let isFirst = true; ; isFirst = false) {
    const all = await newest()
    const found = all.filter(({ id }) => !seen.has(id))
    seen = new Set(all.map(({ id }) => id))
    const wanted = shell.print.kept(found, columns)
    const items = (isFirst ? wanted.slice(0, last) : wanted).toReversed()
    if (feed) feed(items)
    else for (const item of items) shell.io.out(safeJson(item))
    shown += items.length
    await shell.clock.sleep(PAUSE_MS, shell.signal)
    if (shell.signal.aborted) break
  }
  // A terminal has written ^C on this line.
  const line = `${shown} ${what}${shown === 1 ? ' was' : 's were'} shown.`
  shell.note(shell.io.errIsTty ? `\n${line}` : line)
  shell.exitCode = EXIT.interrupted
}
