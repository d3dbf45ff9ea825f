import { defineId, type Id, OrgId } from '../../../src/kernel/ids'
import { PageQuery } from '../../../src/kernel/page'
import { nullable, oneOf, pageOf, type Static, Timestamp, t } from '../../../src/kernel/schema'

export const BookmarkId = defineId('bookmark')
export type BookmarkId = Id<'bookmark'>

const SCOPES = ['personal', 'team'] as const
const settable = { url: t.Optional(nullable(t.String({ maxLength: 2_048 }))), is_default: t.Optional(t.Boolean()) }
const Name = t.String({ minLength: 1, maxLength: 128 })

export const NewBookmark = t.Object({ name: Name, ...settable, scope: t.Optional(oneOf(SCOPES)) })
export const BookmarkPatch = t.Object({ name: t.Optional(Name), ...settable })

export const Bookmark = t.Object({
  id: BookmarkId.schema,
  object: t.Literal('bookmark'),
  name: t.String(),
  url: nullable(t.String()),
  scope: oneOf(SCOPES),
  org_id: nullable(OrgId.schema),
  is_default: t.Boolean(),
  created: Timestamp,
  updated: Timestamp,
})

export type Bookmark = Static<typeof Bookmark>

export const BookmarkPage = pageOf('bookmarks', Bookmark)
export const BookmarkQuery = t.Object({ ...PageQuery.properties, scope: t.Optional(oneOf(SCOPES)) })

/** Answer of `POST /bookmarks/{id}/visit`. */
export const Visit = t.Object({ host: nullable(t.String()) })
export type Visit = Static<typeof Visit>
