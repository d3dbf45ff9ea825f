import type { Draft, Files } from '../../files'
import { type Artifact, ArtifactId } from '../../files/schema'
import { ownerOf } from '../../kernel/caller'
import { AppError } from '../../kernel/errors'
import type { Store, Tx } from '../../kernel/store'
import type { CodeFile } from '../artifacts'
import type { Run } from '../run'

type Deps = { store: Pick<Store, 'read'>; files: Pick<Files, 'add' | 'find' | 'receive'> }

/** Files of an answer: kept with the commit that ends its run, and linked anew each time it is given. */
export function createKept({ store, files }: Deps) {
  return { received, artifactsOf, linkedAnew }

  /** Keeps the bytes of code. An answer is worth more than its files, so without room it goes without links. */
  async function received(run: Run, wanted: readonly CodeFile[]): Promise<KeptCode[]> {
    const all: KeptCode[] = []
    for (const file of wanted) {
      const draft = await files.receive(file.bytes, file.mimeType).catch(unless('conflict', 'unavailable'))
      if (draft) run.drafts.push(draft)
      all.push({ ...file, draft })
    }
    return all
  }

  /** What the run made: pictures, files of code, and what its tools made, which is kept already. */
  async function artifactsOf(tx: Tx, run: Run, code: readonly KeptCode[]): Promise<Artifact[]> {
    const owner = ownerOf(run.call.caller)
    const all: (Artifact | null)[] = []
    for (const { draft, about } of run.pictures) all.push(await files.add(tx, owner, draft, about))
    for (const { draft, about, loose } of code) {
      all.push((draft && (await files.add(tx, owner, draft, about).catch(unless('conflict')))) ?? loose)
    }
    for (const id of run.spent.made?.artifacts ?? []) {
      all.push(ArtifactId.is(id) ? await files.find(tx, owner, id) : null)
    }
    return all.filter((one) => one !== null)
  }

  /** The same files with links that work for an hour (contract 2.3); one that was deleted has none. */
  function linkedAnew({ call }: Run, artifacts: readonly Artifact[]): Promise<Artifact[]> {
    return Promise.all(
      artifacts.map(async (artifact) => {
        if (artifact.url === null || !ArtifactId.is(artifact.id)) return artifact
        const found = await files.find(store.read, ownerOf(call.caller), artifact.id)
        return found ?? { ...artifact, url: null, url_expires_at: null }
      }),
    )
  }
}

/** A file of code with its bytes; null when there was no room for them. */
type KeptCode = CodeFile & { draft: Draft | null }

/** Null in place of a file for which there is no room: on the disk, or in what its owner may keep. */
const unless =
  (...kinds: AppError['kind'][]) =>
  (error: unknown): null => {
    if (error instanceof AppError && kinds.includes(error.kind)) return null
    throw error
  }
