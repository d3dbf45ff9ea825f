import type { Files } from '../files'
import { ArtifactId } from '../files/schema'
import { type Call, type OwnerScope, ownerOf } from '../kernel/caller'
import type { Store } from '../kernel/store'
import { unwrapped } from '../text'
import type { Own } from './collect-sources'
import { WebFailure } from './errors'
import type { OwnText } from './snapshots'
import type { Web } from './web/service'

type Deps = {
  store: Store
  files: Pick<Files, 'ofOwner' | 'read'>
  web: Pick<Web, 'readBytes'>
  knowledgeOf: KnowledgeOf
}
/** Relevant knowledge files of the caller's skills, best first. Injected, because skills are a later module. */
export type KnowledgeOf = (call: Call, question: string) => Promise<{ title: string; text: string }[]>

type Row = Awaited<ReturnType<Files['ofOwner']>>[number]

/** Number of newest files that are searched when the prompt names none. */
const MAX_FILES = 20
const MAX_NAMED = 50
const MAX_BYTES = 8 * 1024 * 1024
const READABLE = /^(?:text\/|application\/(?:pdf|json|xml)\b)/
/** Marks research's own snapshot files. */
export const SNAPSHOT_MODEL = 'svc-1-research'

/** The caller's own texts that research may read: files, and the knowledge of their skills (docs/api.md 7). */
export function createOwnTexts({ store, files, web, knowledgeOf }: Deps): Own {
  return {
    async named({ caller }, ids, signal) {
      const known = ids.filter((id): id is ArtifactId => ArtifactId.is(id)).slice(0, MAX_NAMED)
      if (!known.length) return []
      const owner = ownerOf(caller)
      const rows = await files.ofOwner(store.read, owner, { ids: known, limit: MAX_NAMED })
      return textsOf(rows, owner, signal)
    },

    async about(call, question, wanted) {
      const knowledge = await knowledgeOf(call, question)
      const owner = ownerOf(call.caller)
      const rows = wanted.files ? await files.ofOwner(store.read, owner, { limit: MAX_FILES }) : []
      const texts = await textsOf(rows, owner, wanted.signal)
      return [...texts, ...knowledge.map((one): OwnText => ({ ...one, kind: 'skill', url: null, publishedAt: null }))]
    },
  }

  async function textsOf(rows: readonly Row[], owner: OwnerScope, signal: AbortSignal): Promise<OwnText[]> {
    const texts: OwnText[] = []
    for (const row of rows) {
      const text = row.model === SNAPSHOT_MODEL ? null : await textOf(row, owner, signal)
      const url = `/api/v1/artifacts/${row.id}`
      if (text) texts.push({ kind: 'file', title: row.title ?? row.filename, url, text, publishedAt: null })
    }
    return texts
  }

  /** Null when the file contains no text or is too large. */
  async function textOf(row: Row, owner: OwnerScope, signal: AbortSignal): Promise<string | null> {
    if (row.content) return row.type === 'code' ? row.content : unwrapped(row.content)
    if (!READABLE.test(row.mime_type) || row.size_bytes > MAX_BYTES) return null
    const body = new Uint8Array(await new Response(await files.read(row)).arrayBuffer())
    try {
      return (await web.readBytes({ contentType: row.mime_type, body }, { signal, who: owner, prose: true })).text
    } catch (error) {
      if (error instanceof WebFailure) return null
      throw error
    }
  }
}
