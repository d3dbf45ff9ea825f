import type { Column } from './output/columns'
import type { Shell } from './shell'

type Page = { items: object[]; next: string | null }

type Listing = {
  page(cursor?: string): Promise<Page>
  cursor: string | undefined
  all: boolean | undefined
  columns: readonly Column[]
  empty: string
}

/** Prints one page, or with `--all` every one; where it goes on is said on stderr (dx 2.3). */
export async function printPages(shell: Shell, { page, cursor, all, columns, empty }: Listing): Promise<void> {
  let { items, next } = await page(cursor)
  while (all && next) {
    const more = await page(next)
    items = [...items, ...more.items]
    next = more.next
  }
  shell.print.list(items, columns, empty)
  if (next) shell.note(`More: add --cursor ${next}, or --all`)
}
