import { type ChargingService, promptIn, publicJobErrors } from '../../charging'
import { type EngineService, type Message, originOf } from '../../engines'
import type { Files } from '../../files'
import type { About, Artifact, ArtifactId } from '../../files/schema'
import { defineJob, type Jobs } from '../../jobs'
import type { JobId } from '../../jobs/schema'
import { type Call, type OwnerScope, ownerOf } from '../../kernel/caller'
import { type Clock, iso } from '../../kernel/clock'
import type { Values } from '../../kernel/config'
import { notFound } from '../../kernel/errors'
import { microToCents } from '../../kernel/money'
import type { Reader, Store, Tx } from '../../kernel/store'
import { storable } from '../../kernel/text'
import type { documentSettings } from '../config'
import { mediaErrors } from '../errors'
import { missingIn } from '../missing-letters'
import {
  artifactOf,
  DocumentId,
  type DocumentInput,
  FORMATS,
  type Format,
  filenameOf,
  type MadeDocument,
} from '../schema'
import { titled } from './blocks-model'
import { titleOf } from './outline-reading'
import { createRendering, type Rendering } from './rendering'

type LaterDeps = {
  jobs: Pick<Jobs, 'enqueue' | 'find' | 'register'>
  files: Pick<Files, 'add' | 'receive'>
  rendering: Pick<Rendering, 'renderLong'>
  /** Whether a process runs jobs. Without one, the file would never be built. */
  isServed(): boolean
  picturesIn(markdown: string, owner: OwnerScope): Promise<Map<string, Uint8Array>>
}

/** A document whose text is written and paid for, and whose file is not built yet. */
type Waiting = {
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
  /** Absent for documents created before files stored the request id. */
  requestId?: string
}

/** A document without a file. `error` is why the file will never be built, or null while it is being built. */
type Unmade = Waiting & { error: string | null }

const TIME_LIMIT_MS = 600_000

const RETRY_AFTER_S = 5

/** A document and the job of its file share one id except for the prefix. */
const jobOf = (id: DocumentId): JobId => id.replace(/^doc_/, 'job_') as JobId

/** Maximum tokens of a document's text, about ten pages. */
const MAX_TOKENS = 8_192

const FOR_FORMAT: Record<Format, string> = {
  pdf: 'It becomes a PDF of pages: whole sentences, sections with ## headings, tables where they help.',
  docx: 'It becomes a Word document: whole sentences, sections with ## headings, tables where they help.',
  pptx: 'It becomes slides: each ## heading begins one. Three to six short list entries a slide, or one table or chart.',
  xlsx: 'It becomes a workbook: each table becomes a sheet named by the heading above it. Numbers are plain digits.',
  csv: 'It becomes a CSV file: answer with exactly one table, its columns named in the header, and nothing else.',
}

/** The system instructions for the engine. */
const instructionsFor = (format: Format): string =>
  [
    'You write documents. Answer with the text of the document in Markdown and with nothing else: no remarks to the',
    'reader of this conversation, and no code fence around the whole.',
    'The first line is its title as a # heading. Write in the language of the request.',
    FOR_FORMAT[format],
    'Numbers to be shown as a chart go into a fence labelled chart: a line "type: bar", "type: line", "type: area" or',
    '"type: pie", a line "title: ...", then CSV, whose header names the series and whose first column the labels.',
    'Pictures can be shown only where the request names artifacts of its own, as ![description](art_...).',
    'Use only facts of the request and what is generally known; never invent figures, names or sources.',
  ].join('\n')

const messagesFor = (prompt: string, format: Format): Message[] => [
  { role: 'system', content: instructionsFor(format) },
  { role: 'user', content: prompt },
]

type Deps = {
  store: Store
  clock: Clock
  engines: Pick<EngineService, 'answer' | 'countPrompt' | 'describe' | 'forMode' | 'isFree'>
  files: Pick<Files, 'add' | 'findRow' | 'present' | 'read' | 'receive'>
  charging: Pick<ChargingService, 'run'>
  jobs: Pick<Jobs, 'enqueue' | 'find' | 'register'>
  isServed(): boolean
  settings: Values<typeof documentSettings>
  rendering?: Rendering
}

export type Documents = ReturnType<typeof createDocuments>

const MIME: Record<Format, string> = {
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv',
}

const MAX_TITLE_CHARS = 2_000
const MAX_PICTURES = 20
const MAX_PICTURE_BYTES = 12 * 1024 * 1024

/** A text to lay out as a document. */
export type Text = { markdown: string; title: string; format: Format }

/** Documents: an engine or rules write the text, one model is rendered to five formats (docs/api.md 6). */
export function createDocuments({ rendering = createRendering(), ...deps }: Deps) {
  const { store, clock, engines, files, charging, settings } = deps
  const later = createLater({ ...deps, rendering, picturesIn })
  return { create, layOut, get }

  /**
   * Writes a document for a prompt and stores it as a file. Throws 400 `missing_prompt`, `invalid_format`, and what
   * `charging.run` throws.
   */
  async function create(call: Call, input: DocumentInput): Promise<MadeDocument> {
    const prompt = storable(promptIn(input))
    const format = formatIn(input.format)
    const engineId = engines.forMode('think')
    const free = engines.isFree(engineId)
    const promptTokens = engines.countPrompt(messagesFor(prompt, format))
    const max = { promptTokens, completionTokens: free ? 0 : MAX_TOKENS }
    return make(call, { engineId, free, max, texts: { prompt }, format }, async (texts, signal) => {
      const question = texts.prompt!
      if (free) return { ...(await rendering.outline(question, { signal, who: ownerOf(call.caller) })), used: {} }
      const written = await writeDocument(engines, engineId, { prompt: question, format, call, signal })
      const { promptTokens, completionTokens, markdown, ...by } = written
      return { markdown, title: titleOf(question), used: { promptTokens, completionTokens }, ...by }
    })
  }

  /**
   * Lays out an existing text, as a tool of the agent loop. Free of charge. Waits for the file, because the run stores
   * the answer that names it. Throws 400 `validation_error` for a text that takes too long.
   */
  async function layOut(call: Call, { markdown, title, format }: Text): Promise<MadeDocument> {
    const engineId = engines.forMode('think')
    // The idempotent response is that of the calling run, so the document does not store one.
    const alone = { ...call, once: undefined }
    const texts = { content: storable(markdown), title: storable(title) }
    return make(alone, { engineId, free: true, max: {}, texts, format, waits: true }, async (texts) => ({
      markdown: texts.content!,
      title: texts.title!,
      used: {},
    }))
  }

  type Written = {
    markdown: string
    title: string
    used: { promptTokens?: number; completionTokens?: number }
    engineId?: string
    free?: boolean
  }
  type Wanted = {
    engineId: string
    free: boolean
    max: { promptTokens?: number; completionTokens?: number }
    texts: Record<string, string>
    format: Format
    /** Fails if the file is not ready in time. */
    waits?: true
  }

  function make(
    call: Call,
    { format, waits, ...wanted }: Wanted,
    write: (texts: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Written>,
  ): Promise<MadeDocument> {
    const id = DocumentId.create()
    let unmade: Omit<Unmade, 'costMicro' | 'error'> | undefined
    return charging.run(call, {
      kind: 'document',
      id,
      mode: 'document',
      ...wanted,
      async make({ texts, signal, owner, keep, guardOutput }) {
        const { markdown, title, ...made } = await write(texts, signal)
        const { text: content } = await guardOutput(markdown, wanted.free ? null : instructionsFor(format))
        const pictures = await picturesIn(content, owner)
        const createdAt = clock.now()
        const input = { format, markdown: content, title, createdAt, pictures }
        const by = { signal, who: owner }
        const { engine, id: model } = engines.describe(made.engineId ?? wanted.engineId)
        const source = { content, engine, model, prompt: texts.prompt ?? null }
        const drawn = waits
          ? await rendering.render(input, by)
          : await rendering.renderWithin(settings.documentWaitS * 1_000, input, by)
        if (!drawn) {
          // The file title. A heading in the text takes precedence. The parser is loaded only if needed.
          const { readMarkdown } = await import('./blocks-markdown')
          const named = titled(readMarkdown(content.slice(0, MAX_TITLE_CHARS)), title).title
          unmade = { ...source, id, format, mimeType: MIME[format], title: named, createdAt, requestId: call.requestId }
          return { ...made, files: [], effects: later.begin(owner, unmade) }
        }
        const draft = await keep(drawn.bytes, MIME[format])
        const filename = filenameOf(drawn.title, format)
        const about: About = { type: 'document', title: drawn.title, filename, format, ...source }
        return { ...made, files: [{ draft, id: artifactOf(id), about }] }
      },
      answer: ({ artifacts: [artifact], costMicro }) =>
        artifact ? present(id, artifact, costMicro) : presentUnmade({ ...unmade!, costMicro, error: null }),
    })
  }

  /** A document of the caller with a new link to its file, or without a link while the file is built. Throws 404. */
  async function get(call: Call, id: string): Promise<MadeDocument> {
    const owner = ownerOf(call.caller)
    if (!DocumentId.is(id)) throw notFound('document')
    const made = (await madeOf(owner, id)) ?? (await later.find(store.read, owner, id))
    // The file was finished between the two reads, or it is deleted.
    const found = made === 'done' ? await madeOf(owner, id) : made
    if (!found) throw notFound('document')
    return 'error' in found ? presentUnmade(found) : present(id, files.present(found), found.cost_micro ?? 0)
  }

  async function madeOf(owner: OwnerScope, id: DocumentId) {
    const row = await files.findRow(store.read, owner, artifactOf(id))
    return row?.type === 'document' ? row : undefined
  }

  /** The caller's own pictures that a text refers to. Ignores addresses of other owners and other sites. */
  async function picturesIn(markdown: string, owner: OwnerScope): Promise<Map<string, Uint8Array>> {
    const pictures = new Map<string, Uint8Array>()
    for (const image of markdown.split('![').slice(1)) {
      const source = /^[^\]]*\]\(\s*<?([^\s)>]{1,2000})/.exec(image)?.[1] ?? ''
      const id = /art_[0-9A-Za-z]{24}/.exec(source)?.[0]
      if (!id || pictures.has(source) || pictures.size >= MAX_PICTURES) continue
      const row = await files.findRow(store.read, owner, id as ArtifactId)
      if (row?.type !== 'image' || row.size_bytes > MAX_PICTURE_BYTES) continue
      pictures.set(source, new Uint8Array(await new Response(await files.read(row)).arrayBuffer()))
    }
    return pictures
  }
}

function formatIn(format = 'pdf'): Format {
  const found = FORMATS.find((one) => one === format)
  if (found) return found
  const error = mediaErrors.invalidFormat(format.slice(0, 40))
  throw mediaErrors.invalidFormat.with(
    { param: 'format', details: [{ path: 'format', message: error.message }] },
    format.slice(0, 40),
  )
}

const present = (id: DocumentId, artifact: Artifact, costMicro: number): MadeDocument => ({
  id,
  object: 'document',
  created: artifact.created,
  format: artifact.format as Format,
  title: artifact.title ?? '',
  download_url: artifact.url,
  size_bytes: artifact.size_bytes,
  content: artifact.content ?? '',
  usage: { cost_cents: microToCents(costMicro) },
  ...warningsOf(artifact),
})

const presentUnmade = ({ id, createdAt, format, title, content, costMicro, error }: Unmade): MadeDocument => ({
  id,
  object: 'document',
  created: iso(createdAt),
  format,
  title,
  download_url: null,
  size_bytes: null,
  content,
  usage: { cost_cents: microToCents(costMicro) },
  ...(error === null ? {} : { warnings: [`The file could not be created. ${error}`] }),
})

/** Warns about scripts that the PDF fonts lack. Office programs bring fonts of their own. */
function warningsOf({ format, content, title }: Artifact): Pick<MadeDocument, 'warnings'> {
  const missing = format === 'pdf' ? missingIn(`${title ?? ''} ${content ?? ''}`) : []
  if (!missing.length) return {}
  const letters = `The PDF fonts of this server have no ${missing.join(', ')} letters, so they appear as boxes.`
  return { warnings: [`${letters} Ask for docx or pptx instead.`] }
}

/** Lets an engine write the text of a document. Throws 503 `engine_unavailable`, 400 for a prompt that is too long. */
export async function writeDocument(
  engines: Pick<EngineService, 'answer'>,
  engineId: string,
  { prompt, format, call, signal }: { prompt: string; format: Format; call: Call; signal: AbortSignal },
) {
  const { text, usage, ...source } = await engines.answer(engineId, {
    messages: messagesFor(prompt, format),
    mode: 'think',
    maxOutputTokens: MAX_TOKENS,
    origin: originOf(call),
    signal,
  })
  return { markdown: unfenced(storable(text)), ...usage, engineId: source.engineId, free: source.free }
}

/** Removes the fence that some engines put around a whole answer. */
function unfenced(text: string): string {
  const whole = text.trim()
  const begin = /^```(?:markdown|md)?\s*\n/i.exec(whole)?.[0].length
  if (begin === undefined || !whole.endsWith('\n```') || begin > whole.length - 4) return whole
  const inner = whole.slice(begin, -4)
  return inner.includes('\n```') ? whole : inner
}

/** Jobs that build files which take longer than a request waits. A later GET finds the result (docs/api.md 6). */
function createLater({ jobs, files, rendering, isServed, picturesIn }: LaterDeps) {
  const kind = defineJob<Waiting>({
    name: 'documents.lay-out',
    retry: { attempts: 3, delayMs: () => 2_000 },
    timeLimitMs: TIME_LIMIT_MS,
    concurrency: 2,
    concurrencyPerKey: 1,
    async run({ owner, payload, signal }) {
      const { id, mimeType, ...waiting } = payload
      const pictures = await picturesIn(waiting.content, owner!)
      const input = { ...waiting, markdown: waiting.content, pictures }
      const { bytes } = await rendering.renderLong(input, { signal, who: owner! })
      const draft = await files.receive(bytes, mimeType)
      const about: About = { ...waiting, type: 'document', filename: filenameOf(waiting.title, waiting.format) }
      return { effects: (tx) => files.add(tx, owner!, draft, about, artifactOf(id)) }
    },
  })
  jobs.register(kind)
  return { begin, find }

  /** Prepares the job, which the charge's commit enqueues. Throws 503 `queue_unavailable` if no process runs jobs. */
  function begin(owner: OwnerScope, waiting: Omit<Waiting, 'costMicro'>) {
    if (!isServed()) throw publicJobErrors.queueUnavailable.with({ retryAfterS: RETRY_AFTER_S })
    return (tx: Tx, costMicro: number) =>
      jobs.enqueue(tx, kind, { id: jobOf(waiting.id), owner, payload: { ...waiting, costMicro } })
  }

  /** An owner's document without a file, or `done` if its job has completed. */
  async function find(reader: Reader, owner: OwnerScope, id: DocumentId): Promise<Unmade | 'done' | undefined> {
    const row = await jobs.find(reader, kind, owner, jobOf(id))
    if (!row) return undefined
    return row.state === 'completed' ? 'done' : { ...(row.payload as Waiting), error: row.error }
  }
}
