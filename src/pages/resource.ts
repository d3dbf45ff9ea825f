import { iso } from '../kernel/clock'
import { defineId, type Id, OrgId } from '../kernel/ids'
import { PageQuery } from '../kernel/page'
import { nullable, oneOf, pageOf, type Static, Timestamp, t } from '../kernel/schema'
import { defineTable, type Row } from '../kernel/store'
import { defineResource, ownedColumns, ownedIndexes, scopeOf } from '../resource'
import { referenceSettings } from './reference/config'

const ViewId = defineId('saved view')
type ViewId = Id<'saved view'>

const SCOPES = ['personal', 'team'] as const
const parts = {
  name: t.String({ minLength: 1, maxLength: 128, pattern: '\\S' }),
  section: t.String({ pattern: '^[a-z][a-z-]{0,31}$', description: 'The section of the console that it opens' }),
  query: t.String({ maxLength: 2_000, description: 'Filters, as the address of the section has them' }),
}

/** Body of `POST /views`: a section of the console with its filters, under a name (console 9.8). */
const NewView = t.Object(
  { ...parts, scope: t.Optional(oneOf(SCOPES, { description: '`team` shares it with your active organization' })) },
  { $id: 'NewSavedView' },
)
const ViewPatch = t.Partial(t.Object(parts), { $id: 'SavedViewPatch' })
const SavedView = t.Object(
  {
    ...{ id: ViewId.schema, object: t.Literal('saved_view'), ...parts },
    scope: oneOf(SCOPES),
    org_id: nullable(OrgId.schema),
    created: Timestamp,
    updated: Timestamp,
  },
  { $id: 'SavedView' },
)
type SavedView = Static<typeof SavedView>
const ViewPage = pageOf('views', SavedView)
const ViewQuery = t.Object({ ...PageQuery.properties, scope: t.Optional(oneOf(SCOPES)) })

/** @public The migrations are made from it. */
export const savedViews = defineTable((k) =>
  k.table(
    'saved_views',
    { ...ownedColumns<ViewId>(k), section: k.text('section').notNull(), query: k.text('query').notNull() },
    (t) => ownedIndexes(k, 'saved_views', t),
  ),
)
type ViewRow = Row<typeof savedViews>

/** Sections of the console with their filters, kept under a name (console 9.8). */
export const savedView = defineResource({
  name: 'saved_view',
  title: { one: 'saved view', many: 'saved views' },
  path: '/views',
  plural: 'views',
  table: savedViews,
  id: ViewId,
  words: {
    New: NewView,
    Patch: ViewPatch,
    View: SavedView,
    Query: ViewQuery,
    Page: ViewPage,
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
  present: (row: ViewRow): SavedView => ({
    ...{ id: row.id, object: 'saved_view', name: row.name, section: row.section, query: row.query },
    ...{ scope: scopeOf(row), org_id: row.org_id, created: iso(row.created_at), updated: iso(row.updated_at) },
  }),
})
