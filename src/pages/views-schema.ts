import { defineId, type Id, OrgId } from '../kernel/ids'
import { PageQuery } from '../kernel/page'
import { namedObject, nullable, oneOf, pageOf, type Static, Timestamp, t } from '../kernel/schema'
import { defineTable, type Row } from '../kernel/store'
import { ownedColumns, ownedIndexes } from '../resource'

export const ViewId = defineId('saved view')
type ViewId = Id<'saved view'>

const SCOPES = ['personal', 'team'] as const
const parts = {
  name: t.String({ minLength: 1, maxLength: 128, pattern: '\\S' }),
  section: t.String({ pattern: '^[a-z][a-z-]{0,31}$', description: 'The section of the console that it opens' }),
  query: t.String({ maxLength: 2_000, description: 'Filters, as the address of the section has them' }),
}

/** Body of `POST /views`: a section of the console with its filters, and a name. */
export const NewView = namedObject('NewSavedView', {
  ...parts,
  scope: t.Optional(oneOf(SCOPES, { description: '`team` shares it with your active organization' })),
})
export const ViewPatch = t.Partial(t.Object(parts), { $id: 'SavedViewPatch' })
export const SavedView = namedObject('SavedView', {
  ...{ id: ViewId.schema, object: t.Literal('saved_view'), ...parts },
  scope: oneOf(SCOPES),
  org_id: nullable(OrgId.schema),
  created: Timestamp,
  updated: Timestamp,
})
export type SavedView = Static<typeof SavedView>
export const ViewPage = pageOf('views', SavedView)
export const ViewQuery = t.Object({ ...PageQuery.properties, scope: t.Optional(oneOf(SCOPES)) })

export const savedViews = defineTable(
  'saved_views',
  (k) => ({ ...ownedColumns<ViewId>(k), section: k.text('section').notNull(), query: k.text('query').notNull() }),
  (t, k) => ownedIndexes(k, 'saved_views', t),
)
export type ViewRow = Row<typeof savedViews>
