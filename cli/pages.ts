import { counted } from '../src/kernel/text'
import { EXIT, expectData, type Reply } from './failure'
import { formatOf } from './globals'
import type { Column } from './output/columns'
import { safeJson } from './output/json'
import { isStructured } from './output/print'
import type { Shell } from './shell'
import { flag, text, whole } from './words'

const PAUSE_MS = 1_000

type Tailed<Item> = {
  columns: readonly Column[]
  /** Newest first, at least those after the item `seen`, if any. */
  newest(seen: string | undefined): Promise<readonly Item[]>
  /** Number of existing items to show first. */
  last: number
  /** Name of an item, for the closing sentence: `event`. */
  what: string
}

/** Flags of paged lists. */
export const pageFlags = {
  limit: whole('N', 'how many at most; 50 by default', { min: 1, max: 100 }),
  cursor: text('CURSOR', 'continue after the previous page'),
  all: flag('every page'),
}

export type Paging = { limit: number | undefined; cursor: string | undefined; all: boolean | undefined }

/** Paging parameters of a request. */
export type PageQuery = { limit: number; cursor?: string }

/** The page in an answer. Its list is the member `name`. @throws CommandFailed for an error status */
export async function pageIn<Data extends { next_cursor: string | null }, Name extends keyof Data>(
  reply: Promise<Reply<Data>>,
  name: Name,
): Promise<{ items: NonNullable<Data>[Name]; next: string | null }> {
  const found = expectData(await reply)
  return { items: found[name], next: found.next_cursor }
}

/** Page size that every list allows. */
const MAX = 50

/** Every entry of a paged list. Reads pages on demand. */
export async function* eachEntry<T>(
  page: (input: PageQuery) => Promise<{ items: T[]; next: string | null }>,
): AsyncGenerator<T> {
  for (let next: string | null | undefined; next !== null; ) {
    const found = await page({ limit: MAX, ...(next ? { cursor: next } : {}) })
    yield* found.items
    next = found.next
  }
}

/** All entries of a paged list. */
export const everyEntry = <T>(page: Parameters<typeof eachEntry<T>>[0]): Promise<T[]> =>
  Array.fromAsync(eachEntry(page))

type Listing = {
  /** The columns and `empty` of a page override those of the list. */
  page(
    input: PageQuery,
  ): Promise<{ items: object[]; next: string | null } & Partial<Pick<Listing, 'columns' | 'empty'>>>
  columns: readonly Column[]
  empty: string
}

/**
 * Prints one page, or with `--all` all pages. Prints to stderr how to continue (docs/operating.md 2.3). With
 * `--filter`, reads on until enough rows match.
 */
export async function printPages(shell: Shell, paging: Paging, { page, ...shown }: Listing): Promise<void> {
  const { limit = 50, cursor, all } = paging
  const items: object[] = []
  let next = cursor ?? null
  let isEmpty = true
  let { columns, empty } = shown
  do {
    const more = await page({ limit, ...(next ? { cursor: next } : {}) })
    ;({ columns, empty } = { ...shown, ...more })
    isEmpty &&= !more.items.length
    items.push(...shell.print.kept(more.items, columns))
    next = more.next
  } while (next && (all || (shell.globals.filter !== undefined && items.length < limit)))
  shell.print.list(items, columns, isEmpty ? empty : 'Nothing matches the filter.')
  if (next) shell.note(`More: add --cursor ${next}, or --all`)
}

/** Runs `work` on one item after another and prints each result, even if one fails. `empty` is for no items. */
export async function printEach<T>(
  shell: Shell,
  columns: readonly Column[],
  all: readonly T[],
  work: (one: T) => Promise<object>,
  empty: string,
): Promise<void> {
  const done: object[] = []
  try {
    for (const one of all) done.push(await work(one))
  } finally {
    if (done.length || !all.length) shell.print.list(done, columns, empty)
  }
}

/** Whether rows are printed as JSON lines as they arrive. On a terminal they are lines of a table. */
export const feedsJson = ({ globals, io }: Shell): boolean => isStructured(formatOf(globals)) || !io.outIsTty

/** Prints rows as they arrive: a table on a terminal, else one JSON line each. */
export function feedOf(shell: Shell, columns: readonly Column[]): (rows: readonly object[]) => void {
  if (!feedsJson(shell)) return shell.print.feed(columns, shell.globals.time ?? 'clock')
  return (rows) => {
    for (const row of rows) shell.io.out(safeJson(row))
  }
}

/**
 * Polls until `ask` returns an answer, and returns it. Undefined after `within` milliseconds or on Ctrl-C. The exit
 * code then tells which.
 */
export async function poll<Answer extends object>(
  shell: Shell,
  { within, every }: { within: number; every: number },
  ask: () => Promise<Answer | undefined>,
): Promise<Answer | undefined> {
  const until = shell.clock.monotonic() + within
  for (;;) {
    const found = await ask()
    if (found !== undefined) return found
    if (shell.clock.monotonic() >= until || shell.signal.aborted) break
    await shell.clock.sleep(every, shell.signal)
  }
  shell.exitCode = shell.signal.aborted ? EXIT.interrupted : EXIT.pending
  return undefined
}

/** Resolves when the signal aborts. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

type Growing = { rows: readonly object[]; isOver: boolean }

/** Prints the rows of a growing list as they come, until it is over or Ctrl-C. */
export async function followRows(shell: Shell, columns: readonly Column[], read: () => Promise<Growing>) {
  const feed = feedOf(shell, columns)
  let shown = 0
  await poll(shell, { within: Number.POSITIVE_INFINITY, every: PAUSE_MS }, async () => {
    const { rows, isOver } = await read()
    feed(rows.slice(shown))
    shown = rows.length
    return isOver ? rows : undefined
  })
}

/** Prints new items, oldest first, until Ctrl-C. */
export async function tail<Item extends { id: string }>(shell: Shell, { columns, newest, last, what }: Tailed<Item>) {
  const feed = feedOf(shell, columns)
  let seen: ReadonlySet<string> = new Set()
  let shown = 0
  for (let isFirst = true; ; isFirst = false) {
    const all = await newest(seen.values().next().value)
    const found = all.filter(({ id }) => !seen.has(id))
    if (all.length) seen = new Set(all.map(({ id }) => id))
    const wanted = shell.print.kept(found, columns)
    const items = (isFirst ? wanted.slice(0, last) : wanted).toReversed()
    feed(items)
    shown += items.length
    await shell.clock.sleep(PAUSE_MS, shell.signal)
    if (shell.signal.aborted) break
  }
  shell.note(`${counted(shown, `${what} was`, `${what}s were`)} shown.`)
  shell.exitCode = EXIT.interrupted
}
