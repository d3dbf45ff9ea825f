import type { Draft } from '../files'
import { type About, type Artifact, ArtifactId } from '../files/schema'
import { ownerOf } from '../kernel/caller'
import { iso } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import type { Tx } from '../kernel/store'
import { codeBlocks, isProject, kindOf, zipOf } from '../media'
import type { House, Run } from './run'
import type { ModelRef } from './schema'

type Maker = { model: ModelRef; createdAt: number }

/** A code file before it is stored: its bytes, their type, and the artifact it has as long as it is not stored. */
type CodeFile = { bytes: Uint8Array; mimeType: string; about: About; loose: Artifact | null }

/** A code file with its stored bytes. Null when there was no room for them. */
type StoredCode = CodeFile & { draft: Draft | null }

/** Returns null instead of a file for which there is no room, on the disk or in the owner's quota. */
const unless =
  (...kinds: AppError['kind'][]) =>
  (error: unknown): null => {
    if (error instanceof AppError && kinds.includes(error.kind)) return null
    throw error
  }

/** Stores the code files of an answer. Without room for them, the answer is given without links. */
export async function receiveCode({ files }: House, run: Run, text: string, maker: Maker): Promise<StoredCode[]> {
  const all: StoredCode[] = []
  for (const file of codeFiles(text, maker)) {
    const draft = await files.receive(file.bytes, file.mimeType).catch(unless('conflict', 'unavailable'))
    if (draft) run.drafts.push(draft)
    all.push({ ...file, draft })
  }
  return all
}

/** What the run made: pictures, code files, and the files of its tools, which are already stored. */
export async function artifactsOf(
  { files }: House,
  tx: Tx,
  run: Run,
  code: readonly StoredCode[],
): Promise<Artifact[]> {
  const owner = ownerOf(run.call.caller)
  const { requestId } = run.call
  const all: (Artifact | null)[] = []
  for (const { draft, about } of run.pictures) all.push(await files.add(tx, owner, draft, { ...about, requestId }))
  for (const { draft, about, loose } of code) {
    all.push((draft && (await files.add(tx, owner, draft, { ...about, requestId }).catch(unless('conflict')))) ?? loose)
  }
  for (const id of run.spent.made?.artifacts ?? []) {
    all.push(ArtifactId.is(id) ? await files.find(tx, owner, id) : null)
  }
  return all.filter((one) => one !== null)
}

/** The same files with new links that work for an hour (docs/api.md 2.3). A deleted file has no link. */
export const linkedAnew = (
  { files, store }: House,
  { call }: Run,
  artifacts: readonly Artifact[],
): Promise<Artifact[]> =>
  Promise.all(
    artifacts.map(async (artifact) => {
      if (artifact.url === null || !ArtifactId.is(artifact.id)) return artifact
      const found = await files.find(store.read, ownerOf(call.caller), artifact.id)
      return found ?? { ...artifact, url: null, url_expires_at: null }
    }),
  )

/** The fenced code blocks of an answer, each as an artifact (docs/api.md 2.3). An unclosed fence makes no artifact. */
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

/** The code files of an answer. For a project, also one archive of all of them. */
function codeFiles(text: string, maker: Maker): CodeFile[] {
  const by = { engine: maker.model.engine, model: maker.model.id }
  const files = codeArtifacts(text, maker).map((loose): CodeFile => {
    const { filename, mime_type: mimeType, content, language } = loose
    // Every file has a name. It has a title only if the answer gives its path.
    const title = filename.includes('/') ? filename : null
    const about: About = { type: 'code', filename, title, content, language, ...by }
    return { bytes: new TextEncoder().encode(content ?? ''), mimeType, about, loose }
  })
  const blocks = codeBlocks(text)
  if (!isProject(blocks)) return files
  const about: About = { type: 'file', filename: 'project.zip', title: 'project.zip', ...by }
  return [...files, { bytes: zipOf(blocks, maker.createdAt), mimeType: 'application/zip', about, loose: null }]
}
