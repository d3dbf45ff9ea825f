import { defineResource } from '../../../src/resource'
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
  permission: 'manageWebhooks',
  reach: 'active org',
  most: bookmarkSettings.maxBookmarks,
  empty: { url: null, is_default: false },
  present: ({ name, url }: BookmarkRow) => ({ name, url }),
})
