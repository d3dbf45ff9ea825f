import { iso } from '../kernel/clock'
import { defineResource, scopeOf } from '../resource'
import { referenceSettings } from './reference/config'
import * as words from './views-schema'

/** Sections of the console with their filters, saved under a name. */
export const savedView = defineResource({
  name: 'saved_view',
  title: { one: 'saved view', many: 'saved views' },
  path: '/views',
  plural: 'views',
  table: words.savedViews,
  id: words.ViewId,
  words: {
    New: words.NewView,
    Patch: words.ViewPatch,
    View: words.SavedView,
    Query: words.ViewQuery,
    Page: words.ViewPage,
  },
  summaries: {
    create: 'Save a view of a section of the console',
    list: "List your saved views and your active organization's, newest first",
    get: 'Read one saved view',
    update: 'Change a saved view',
    remove: 'Delete a saved view',
  },
  owned: 'either',
  reach: 'active org',
  permission: 'manageSkills',
  holds: ['name', 'query'],
  max: referenceSettings.maxViews,
  empty: {},
  present: (row: words.ViewRow): words.SavedView => ({
    ...{ id: row.id, object: 'saved_view', name: row.name, section: row.section, query: row.query },
    ...{ scope: scopeOf(row), org_id: row.org_id, created: iso(row.created_at), updated: iso(row.updated_at) },
  }),
})
