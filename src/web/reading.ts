import { createWorkerPool, WorkerFailure, type WorkerPool } from '../kernel/worker-pool'
import { decodeText } from './decode'
import type { DocumentOrder } from './document-reader.worker'
import { WebFailure } from './failure'
import type { PageAnswer, PageOrder } from './page-reader.worker'

/** PDFs carry fonts and images beside their text, so they may be larger than pages. */
export const MAX_BYTES = 8 * 1024 * 1024
const MAX_TEXT_BYTES = 2 * 1024 * 1024
const READ_MS = 5_000
const MAX_CHARS = 200_000
const LIMITS = { most: 2, idleMs: 30_000, memoryBytes: 384 * 1024 * 1024 }

const PAGE = /^(text\/html|application\/xhtml\+xml)$/
const PLAIN = /^(text\/[\w.+-]+|application\/(json|xml|javascript|[\w.-]+\+(json|xml)))$/
const DOCUMENT = /^application\/(x-)?pdf$/
const UNKNOWN = /^(application|binary)\/octet-stream$/

/** A fetched body and its Content-Type. */
export type Given = { contentType: string; body: Uint8Array }
/** The owner the work is done for, and the signal that cancels it. */
type By = { signal: AbortSignal; who: string }

/**
 * Reads a fetched HTML page, PDF or plain text as title and text. HTML and PDF are parsed in worker processes, within
 * five seconds and 384 MiB. Throws {@link WebFailure} for content it cannot read.
 */
export function createReading() {
  const pages = createWorkerPool<PageOrder, PageAnswer>({
    script: new URL('./page-reader.worker.ts', import.meta.url),
    ...LIMITS,
  })
  const documents = createWorkerPool<DocumentOrder, PageAnswer>({
    script: new URL('./document-reader.worker.ts', import.meta.url),
    ...LIMITS,
  })

  return async function read({ contentType, body }: Given, by: By): Promise<PageAnswer> {
    const mime = contentType.split(';')[0]!.trim().toLowerCase()
    if (isDocument(mime, body)) return withWords(await ask(documents, { bytes: body, maxChars: MAX_CHARS }, by))
    const [isPage, isPlain] = [PAGE.test(mime), PLAIN.test(mime)]
    if (!isPage && !isPlain) throw new WebFailure(`The address holds ${mime.slice(0, 80)}, which is not read here.`)
    if (body.length > MAX_TEXT_BYTES) throw new WebFailure(`The page is larger than ${MAX_TEXT_BYTES} bytes.`)
    const text = decodeText(body, contentType)
    return isPage
      ? ask(pages, { html: text, maxChars: MAX_CHARS }, by)
      : { title: null, text: text.slice(0, MAX_CHARS), publishedAt: null }
  }
}

/** Decides by media type, or by the first bytes (`%PDF-`) when the type is `octet-stream`. */
const isDocument = (mime: string, body: Uint8Array): boolean =>
  DOCUMENT.test(mime) || (UNKNOWN.test(mime) && Buffer.from(body.subarray(0, 5)).toString('latin1') === '%PDF-')

function withWords(answer: PageAnswer): PageAnswer {
  if (answer.text) return answer
  throw new WebFailure('The document holds no words, as one of scanned pages does.')
}

async function ask<Order>(pool: WorkerPool<Order, PageAnswer>, order: Order, by: By): Promise<PageAnswer> {
  try {
    return await pool.run(order, { timeoutMs: READ_MS, ...by })
  } catch (error) {
    if (!(error instanceof WorkerFailure)) throw error
    throw new WebFailure(PROBLEMS[error.kind])
  }
}

const PROBLEMS: Record<WorkerFailure['kind'], string> = {
  timeout: 'What the address holds takes too long to read.',
  memory: 'What the address holds unfolds to more than is read here.',
  failed: 'What the address holds could not be read: it is broken, or locked with a password.',
}
