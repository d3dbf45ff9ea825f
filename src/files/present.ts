import { iso, isoOrNull } from '../kernel/clock'
import type { Artifact, ListedArtifact } from './schema'
import type { ArtifactRow } from './table'

type Signed = { url: string; until: number }

/** An artifact as callers see it, with a link that works until `until`. */
export const presentArtifact = (row: ArtifactRow, { url, until }: Signed): Artifact => ({
  id: row.id,
  type: row.type,
  title: row.title,
  filename: row.filename,
  mime_type: row.mime_type,
  url,
  url_expires_at: iso(until),
  size_bytes: row.size_bytes,
  content: row.content,
  language: row.language,
  format: row.format,
  width: row.width,
  height: row.height,
  duration_seconds: row.duration_seconds,
  engine: row.engine,
  model: row.model,
  prompt: row.prompt,
  created: iso(row.created_at),
})

/** The same in a list. */
export function presentListed(row: ArtifactRow, signed: Signed): ListedArtifact {
  const { content: _, ...rest } = presentArtifact(row, signed)
  return { ...rest, expires_at: isoOrNull(row.expires_at) }
}
