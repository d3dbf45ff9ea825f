import { createWorkerPool, WorkerFailure, type WorkerPool } from '../kernel/worker-pool'
import { unwrapped } from '../text'
import { decodeText, isText } from './decode'
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
const PLAIN = /^(text\/[\w.+-]+|application\/(json|xml|javascript|csv|(x-)?ndjson|(x-)?yaml|[\w.-]+\+(json|xml)))$/
const DOCUMENT = /^application\/(x-)?pdf$/
const UNKNOWN = /^((application|binary)\/(octet-stream|(x-|force-)?download)|unknown\/unknown|)$/
/** What is written to be read: line ends in it are those of its page. */
const PROSE = /^text\/(plain|(x-)?markdown)$/
const HTML = /^\s*(?:<!--[^>]{0,500}-->\s*)?<(?:!doctype html|html|head|body)\b/i

/** A fetched body and its Content-Type. */
export type Given = { contentType: string; body: Uint8Array }
/**
 * The owner the work is done for, and the signal that cancels it. With `prose`, the lines of a plain text are joined to
 * paragraphs, as a reader of sentences needs them.
 */
export type By = { signal: AbortSignal; who: string; prose?: true }

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
    const said = contentType.split(';')[0]!.trim().toLowerCase()
    const mime = UNKNOWN.test(said) ? typeOf(body, said) : said
    if (isDocument(mime, body)) return withWords(await ask(documents, { bytes: body, maxChars: MAX_CHARS }, by))
    const [isPage, isPlain] = [PAGE.test(mime), PLAIN.test(mime)]
    if (!isPage && !isPlain)
      throw new WebFailure(
        `The address contains ${mime.slice(0, 80) || 'bytes of no known type'}, which this server cannot read.`,
      )
    if (body.length > MAX_TEXT_BYTES) throw new WebFailure(`The page is larger than ${MAX_TEXT_BYTES} bytes.`)
    const text = decodeText(body, contentType)
    if (isPage) return ask(pages, { html: text, maxChars: MAX_CHARS }, by)
    const read = text.slice(0, MAX_CHARS)
    return { title: null, text: by.prose && PROSE.test(mime) ? unwrapped(read) : read, publishedAt: null }
  }
}

/** A PDF is what says so, by its type or in its first bytes. */
const isDocument = (mime: string, body: Uint8Array): boolean =>
  DOCUMENT.test(mime) || Buffer.from(body.subarray(0, 5)).toString('latin1') === '%PDF-'

/** The type of what is served as mere bytes, by these. */
function typeOf(body: Uint8Array, said: string): string {
  if (!isText(body)) return said
  return HTML.test(Buffer.from(body.subarray(0, 1_024)).toString('latin1')) ? 'text/html' : 'text/plain'
}

function withWords(answer: PageAnswer): PageAnswer {
  if (answer.text) return answer
  throw new WebFailure('The document contains no text; it may consist of scanned pages.')
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
  timeout: 'The content of the address takes too long to read.',
  memory: 'The content of the address is too large once decompressed.',
  failed: 'The content of the address could not be read: it is damaged or protected by a password.',
}
