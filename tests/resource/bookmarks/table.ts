import { defineTable, type Row } from '../../../src/kernel/store'
import { ownedColumns, ownedIndexes } from '../../../src/resource'
import type { BookmarkId } from './schema'

export const bookmarks = defineTable(
  'bookmarks',
  (k) => ({ ...ownedColumns<BookmarkId>(k), url: k.text('url'), is_default: k.bool('is_default').notNull() }),
  (t, k) => ownedIndexes(k, 'bookmarks', t),
)
export type BookmarkRow = Row<typeof bookmarks>
