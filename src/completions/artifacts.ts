import { checksOf, codeBlocks, isProject, kindOf, problemsIn, zipOf } from '../code'
import { type About, type Artifact, ArtifactId } from '../files/schema'
import { iso } from '../kernel/clock'
import type { ModelRef } from './schema'

type Maker = { model: ModelRef; createdAt: number }

/** The fenced blocks of code in an answer, each as an artifact (contract 2.3). An unclosed fence makes no artifact. */
export function codeArtifacts(text: string, { model, createdAt }: Maker): Artifact[] {
  return codeBlocks(text).map(({ path, language, content }) => ({
    id: ArtifactId.create(),
    type: 'code',
    title: null,
    filename: path,
    mime_type: kindOf(language).mimeType,
    url: null,
    url_expires_at: null,
    size_bytes: Buffer.byteLength(content),
    content,
    language: language || null,
    format: null,
    width: null,
    height: null,
    duration_seconds: null,
    engine: model.engine,
    model: model.id,
    prompt: null,
    created: iso(createdAt),
  }))
}

/** A file of code before it is kept: its bytes, what they are, and its artifact as long as they are kept nowhere. */
export type CodeFile = { bytes: Uint8Array; mimeType: string; about: About; loose: Artifact | null }

/** The files of code in an answer, and of a project one archive of all. */
export function codeFiles(text: string, maker: Maker): CodeFile[] {
  const by = { engine: maker.model.engine, model: maker.model.id }
  const files = codeArtifacts(text, maker).map((loose): CodeFile => {
    const { filename, mime_type: mimeType, content, language } = loose
    // A file has a name, and a title where the answer gives it a path.
    const title = filename.includes('/') ? filename : null
    const about: About = { type: 'code', filename, title, content, language, ...by }
    return { bytes: new TextEncoder().encode(content ?? ''), mimeType, about, loose }
  })
  const blocks = codeBlocks(text)
  if (!isProject(blocks)) return files
  const about: About = { type: 'file', filename: 'project.zip', title: 'project.zip', ...by }
  return [...files, { bytes: zipOf(blocks, maker.createdAt), mimeType: 'application/zip', about, loose: null }]
}

/** A sentence for each block of code in an answer that a parser refuses. */
export const codeProblems = (text: string): string[] => problemsIn(checksOf(codeBlocks(text)))
