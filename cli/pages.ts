import type { Column } from './output/columns'
import type { Shell } from './shell'
import { flag, text, whole } from './words'

/** Flags of paged lists. */
export const pageFlags = {
  limit: whole('N', 'how many at most; 50 by default', { min: 1, max: 100 }),
  cursor: text('CURSOR', 'continue where an earlier list ended'),
  all: flag('every page'),
}

type Paging = { limit: number | undefined; cursor: string | undefined; all: boolean | undefined }

/** Paging parameters of a request. */
export type PageOrder = { limit: number; cursor?: string }

type Listing = {
  page(order: PageOrder): Promise<{ items: object[]; next: string | null }>
  columns: readonly Column[]
  empty: string
}

/** Prints one page, or with `--all` all pages; how to continue is printed to stderr (dx 2.3). */
export async function printPages(shell: Shell, paging: Paging, { page, columns, empty }: Listing): Promise<void> {
  const { limit = 50, cursor, all } = paging
  let { items, next } = await page({ limit, ...(cursor ? { cursor } : {}) })
  while (all && next) {
    const more = await page({ limit, cursor: next })
    items = [...items, ...more.items]
    next = more.next
  }
  shell.print.list(items, columns, empty)
  if (next) shell.note(`More: add --cursor ${next}, or --all`)
}
