import { PageQuery } from '../kernel/page'
import { deletionMembers, nullable, oneOf, pageOf, type Static, Timestamp, t } from '../kernel/schema'
import { ARTIFACT_TYPES, ArtifactId, MADE_BY, MADE_BY_QUERY } from './schema'

/** An artifact as operators see it: without a link, a title and the prompt. */
export const OverseenArtifact = t.Object(
  {
    id: ArtifactId.schema,
    owner: t.String({ description: 'org:ID or user:ID' }),
    type: oneOf(ARTIFACT_TYPES),
    filename: t.String(),
    mime_type: t.String(),
    size_bytes: t.Integer(),
    model: t.String(),
    created: Timestamp,
    expires_at: nullable(Timestamp),
    ...MADE_BY,
  },
  { $id: 'OverseenArtifact' },
)
export type OverseenArtifact = Static<typeof OverseenArtifact>

export const OverseenArtifacts = pageOf('artifacts', OverseenArtifact)
export type OverseenArtifacts = Static<typeof OverseenArtifacts>

export const OverseenArtifactsQuery = t.Object({
  ...PageQuery.properties,
  type: t.Optional(oneOf(ARTIFACT_TYPES)),
  ...MADE_BY_QUERY,
})
export type OverseenArtifactsQuery = Static<typeof OverseenArtifactsQuery>

const stored = { files: t.Integer(), bytes: t.Integer() }

export const ArtifactSizes = t.Object(
  {
    object: t.Literal('artifact_sizes'),
    by_owner: t.Array(t.Object({ owner: t.String(), ...stored }), { description: 'The hundred with the most bytes' }),
    by_age: t.Array(t.Object({ up_to_days: nullable(t.Integer({ description: 'null: all older files' })), ...stored })),
  },
  { $id: 'ArtifactSizes' },
)
export type ArtifactSizes = Static<typeof ArtifactSizes>

export const ArtifactPrune = t.Object({
  ...deletionMembers('Only files created before this time'),
  owner: t.Optional(t.String({ description: 'Only of this organization or user' })),
})
export type ArtifactPrune = Static<typeof ArtifactPrune>

export const ArtifactsPruned = t.Object({ object: t.Literal('artifact_prune'), ...stored })
export type ArtifactsPruned = Static<typeof ArtifactsPruned>
