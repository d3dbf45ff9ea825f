import { checksOf, codeBlocks, kindOf, problemsIn } from '../code'
import { type Artifact, ArtifactId } from '../files/schema'
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

/** A sentence for each block of code in an answer that a parser refuses. */
export const codeProblems = (text: string): string[] => problemsIn(checksOf(codeBlocks(text)))
