import { iso } from '../../../src/kernel/clock'
import { defineResource, scopeOf } from '../../../src/resource'
import { bookmarkSettings } from './config'
import * as words from './schema'
import { type BookmarkRow, bookmarks } from './table'

/** Addresses that somebody wants to find again. */
export const bookmark = defineResource({
  name: 'bookmark',
  title: { one: 'bookmark', many: 'bookmarks' },
  path: '/bookmarks',
  plural: 'bookmarks',
  table: bookmarks,
  id: words.BookmarkId,
  words: {
    New: words.NewBookmark,
    Patch: words.BookmarkPatch,
    View: words.Bookmark,
    Query: words.BookmarkQuery,
    Page: words.BookmarkPage,
  },
  summaries: {
    create: 'Create a bookmark',
    list: 'List your bookmarks',
    get: 'Read one bookmark',
    update: 'Change a bookmark',
    remove: 'Delete a bookmark',
  },
  owned: 'either',
  permission: 'manageWebhooks',
  holds: 'facts',
  max: bookmarkSettings.maxBookmarks,
  empty: { url: null, is_default: false },
  present: (row: BookmarkRow): words.Bookmark => ({
    id: row.id,
    object: 'bookmark',
    name: row.name,
    url: row.url,
    scope: scopeOf(row),
    org_id: row.org_id,
    is_default: row.is_default,
    created: iso(row.created_at),
    updated: iso(row.updated_at),
  }),
})
