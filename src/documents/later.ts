import type { Files } from '../files'
import type { About } from '../files/schema'
import { defineJob, type Jobs } from '../jobs'
import type { JobId } from '../jobs/schema'
import type { OwnerScope } from '../kernel/caller'
import type { Reader, Tx } from '../kernel/store'
import { queueUnavailable } from '../public-jobs'
import type { Rendering } from './rendering'
import { artifactOf, type DocumentId, type Format, filenameOf } from './schema'

type Deps = {
  jobs: Pick<Jobs, 'enqueue' | 'find' | 'register'>
  files: Pick<Files, 'add' | 'receive'>
  rendering: Pick<Rendering, 'renderLong'>
  /** Whether a process runs jobs; without one a file would never come. */
  isServed(): boolean
  picturesIn(markdown: string, owner: OwnerScope): Promise<Map<string, Uint8Array>>
}

/** A document whose text is written and paid for, and whose file is not made yet. */
export type Waiting = {
  id: DocumentId
  format: Format
  mimeType: string
  title: string
  content: string
  createdAt: number
  costMicro: number
  engine: string
  model: string
  prompt: string | null
}

/** Why a file will never come; null while it is being made. */
export type Unmade = Waiting & { error: string | null }

const TIME_LIMIT_MS = 600_000
const RETRY_AFTER_S = 5

/** Files of documents that take longer to lay out than a request waits: jobs, of which a later GET knows (contract 6). */
export function createLater({ jobs, files, rendering, isServed, picturesIn }: Deps) {
  const kind = defineJob<Waiting>({
    name: 'documents.lay-out',
    retry: { attempts: 3, delayMs: () => 2_000 },
    timeLimitMs: TIME_LIMIT_MS,
    concurrency: 2,
    concurrencyPerKey: 1,
    async run({ owner, payload, signal }) {
      const { id, mimeType, ...waiting } = payload
      const pictures = await picturesIn(waiting.content, owner!)
      const order = { ...waiting, markdown: waiting.content, subtitle: null, language: null, pictures }
      const { bytes } = await rendering.renderLong(order, { signal, who: owner! })
      const draft = await files.receive(bytes, mimeType)
      const about: About = { ...waiting, type: 'document', filename: filenameOf(waiting.title, waiting.format) }
      return { effects: (tx) => files.add(tx, owner!, draft, about, artifactOf(id)) }
    },
  })
  jobs.register(kind)
  return { begin, find }

  /** What puts it in line in the commit of its charge. Throws 503 `queue_unavailable` where no process runs jobs. */
  function begin(owner: OwnerScope, waiting: Omit<Waiting, 'costMicro'>) {
    if (!isServed()) throw queueUnavailable.with({ retryAfterS: RETRY_AFTER_S })
    return (tx: Tx, costMicro: number) =>
      jobs.enqueue(tx, kind, { id: jobOf(waiting.id), owner, payload: { ...waiting, costMicro } })
  }

  /** An owner's document without a file; `done` once it has had one. */
  async function find(reader: Reader, owner: OwnerScope, id: DocumentId): Promise<Unmade | 'done' | undefined> {
    const row = await jobs.find(reader, kind, owner, jobOf(id))
    if (!row) return undefined
    return row.state === 'completed' ? 'done' : { ...(row.payload as Waiting), error: row.error }
  }
}

/** A document and the job of its file have one id, but for the prefix. */
const jobOf = (id: DocumentId): JobId => id.replace(/^doc_/, 'job_') as JobId
