import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import { randomBase62 } from '../kernel/crypto'
import { AppError, invalidInput } from '../kernel/errors'
import { parseUntrustedJson } from '../kernel/json'
import { NO_BODY } from '../kernel/schema'
import { freeBuffer, MAX_JSON_BYTES, paced, payloadTooLarge, type ReceivedBody, receiveBody } from './intake'
import type { RouteRule } from './route-rules'

/** `filename` is the sender's name of the file, for display only. */
type UploadedFile = { field: string; path: string; filename: string }

/** A received form. Its files stay on disk until `discard` is called. */
export type Upload = {
  /** A field sent several times has its last value. If its name ends in `[]`, all values, separated by commas. */
  readonly fields: ReadonlyMap<string, string>
  /** The first of `files`, or null. */
  readonly file: UploadedFile | null
  readonly files: readonly UploadedFile[]
  discard(): Promise<void>
}

/** Passes a form to `read` and then removes its files. */
export async function reading<T>(body: unknown, read: (form: Upload) => Promise<T>): Promise<T> {
  const form = body as Upload
  try {
    return await read(form)
  } finally {
    await form.discard()
  }
}

type Options = {
  /** Maximum size of each file. */
  maxBytes: number
  maxFiles: number
  folder: string
}

/** Maximum size of a form besides its files. */
const FORM_BYTES = 256 * 1024

const LIMITS = {
  fields: 32,
  fieldNameSize: 100,
  fieldSize: 65_536,
  headerPairs: 16,
  headerSize: 8_192,
}

/** RFC 2046. */
const BOUNDARY = /;\s*boundary=(?:"[^"]{1,70}"|[^\s;"]{1,70})\s*(?:;|$)/i

/** Maximum number of forms in progress, so that uploads cannot fill the disk. */
const MAX_AT_ONCE = 40

const counted = { now: 0 }

const broken = (why: string) => new AppError('validation_error', `The body is not valid multipart/form-data: ${why}.`)

type Received = { fields: Map<string, string>; files: UploadedFile[] }

/** Bun itself rejects larger bodies, without our error envelope. So this is well above our own limit. */
export const MAX_TRANSPORT_BYTES = 80 * 1024 * 1024

const JSON_WANTED = 'Send JSON with Content-Type: application/json.'

const unsupportedMediaType = (what: string, wanted = JSON_WANTED) =>
  new AppError('unsupported_media_type', `${what} ${wanted}`)

const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

type BodyRule = Pick<RouteRule, 'body' | 'maxBytes' | 'maxFiles'>
const JSON_RULE = { body: 'json', open: false, maxBytes: MAX_JSON_BYTES, maxFiles: 1 } as const

/** The content types of bodies that are not JSON. */
const OTHER_TYPES = {
  form: 'application/x-www-form-urlencoded',
  upload: 'multipart/form-data',
} as const

/** Checks size and type by the headers, before reading any of the body. Throws 413 or 415. */
export function assertBodyHeaders(request: Request, { body, maxBytes, maxFiles }: BodyRule = JSON_RULE): void {
  const { headers } = request
  const declared = headers.get('content-length')
  const max = body === 'upload' ? maxBytes * maxFiles + FORM_BYTES : maxBytes
  if (declared !== null && Number(declared) > max) throw payloadTooLarge(maxBytes)
  if (!METHODS_WITH_BODY.has(request.method)) return
  const hasBody = declared === null ? headers.has('transfer-encoding') : declared !== '0'
  if (!hasBody) return
  const encoding = headers.get('content-encoding')
  if (encoding && encoding !== 'identity')
    throw unsupportedMediaType(`Content-Encoding "${encoding.slice(0, 40)}" is not supported.`)
  const type = headers.get('content-type') ?? ''
  if (type === 'application/json' && body !== 'form' && body !== 'upload') return
  const problem = type ? `Content-Type is "${type.slice(0, 40)}".` : 'Content-Type is missing.'
  if (body === 'form' || body === 'upload') {
    if (type.split(';')[0]!.trim().toLowerCase() === OTHER_TYPES[body]) return
    throw unsupportedMediaType(problem, `Send ${OTHER_TYPES[body]}.`)
  }
  if (/^application\/json\s*(;|$)/i.test(type)) {
    const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(type)?.[1]
    if (charset === undefined || /^utf-?8$/i.test(charset)) return
    throw unsupportedMediaType(`The charset is "${charset.slice(0, 40)}", but only UTF-8 is supported.`)
  }
  throw unsupportedMediaType(problem)
}

/** True if the headers announce a body. */
export const hasBody = ({ headers }: Request): boolean =>
  (headers.get('content-length') ?? '0') !== '0' || headers.has('transfer-encoding')

/** Bodies of this size take long to read and to answer. So other requests get a turn after reading one. */
const LARGE_BYTES = 256 * 1024

/** Called with the bytes of a body before they are parsed. `parsed` parses them on demand, or throws 400. */
type Look = (bytes: Uint8Array, parsed: () => unknown) => Promise<void>
type Reading = Pick<RouteRule, 'body' | 'open' | 'maxBytes'> & { look?: Look }

/**
 * The body as JSON, or `NO_BODY`. A promise if the body has not arrived yet. Throws 400 `validation_error`, 413, 503
 * `service_unavailable`, 504 `request_timeout`.
 */
export function readJson(request: Request, { body, open, maxBytes, look }: Reading = JSON_RULE): unknown {
  const taken = receiveBody(request, maxBytes, open)
  const read = body === 'ignored' ? skip : parse
  return taken instanceof Promise ? taken.then((now) => readNow(now, read, look)) : readNow(taken, read, look)
}

function readNow(taken: ReceivedBody, read: typeof parse, look?: Look): unknown {
  if (look || taken.bytes.length > LARGE_BYTES) return readLater(taken, read, look)
  try {
    return read(taken.bytes)
  } finally {
    taken.release()
  }
}

async function readLater(taken: ReceivedBody, read: typeof parse, look?: Look): Promise<unknown> {
  try {
    const value = look ? await lookedAt(taken.bytes, read, look) : read(taken.bytes)
    // Gives waiting requests a turn (docs/promises.md I28).
    if (taken.bytes.length > LARGE_BYTES) await new Promise<void>((resolve) => setImmediate(resolve))
    return value
  } finally {
    if (taken.bytes.length > LARGE_BYTES) freeBuffer(taken.bytes)
    taken.release()
  }
}

/** Reads a body that is not JSON, or whose bytes are signed, as form fields or bytes. Throws like `readJson`. */
export async function readOther(request: Request, { body, open, maxBytes }: RouteRule): Promise<unknown> {
  const taken = await receiveBody(request, maxBytes, open)
  try {
    if (body === 'form') return Object.fromEntries(new URLSearchParams(new TextDecoder().decode(taken.bytes)))
    return taken.bytes
  } finally {
    taken.release()
  }
}

const skip = () => NO_BODY

const parse = (bytes: Uint8Array): unknown => (bytes.length ? parseUntrustedJson(bytes) : NO_BODY)

async function lookedAt(bytes: Uint8Array, read: typeof parse, look: Look): Promise<unknown> {
  let known: { value: unknown } | null = null
  const parsed = () => {
    known ??= { value: read(bytes) }
    return known.value
  }
  await look(bytes, parsed)
  return parsed()
}

/**
 * Receives a form piece by piece and writes its files to disk, so that no file is completely in memory. Throws 400
 * `validation_error`, 413 `payload_too_large`, 503 `service_unavailable` or `storage_unavailable`, 504
 * `request_timeout`.
 */
export async function receiveUpload(request: Request, options: Options): Promise<Upload> {
  const type = request.headers.get('content-type') ?? ''
  // The route's error names the missing fields better than the parser's.
  if (!type && !hasBody(request)) return { fields: new Map(), file: null, files: [], discard: async () => undefined }
  if (!BOUNDARY.test(type)) throw broken('its Content-Type has no boundary of at most 70 characters')
  if (counted.now >= MAX_AT_ONCE)
    throw new AppError('service_unavailable', 'Too many files are being sent at once. Try again in a second.', {
      retryAfterS: 1,
    })
  counted.now += 1
  const form: Received = { fields: new Map(), files: [] }
  const discard = async () => {
    counted.now -= 1
    await Promise.all(form.files.map(({ path }) => rm(path, { force: true })))
  }
  try {
    await mkdir(options.folder, { recursive: true, mode: 0o700 })
    await receive(request, form, type, options)
    return { ...form, file: form.files[0] ?? null, discard }
  } catch (error) {
    await discard()
    throw error
  }
}

async function receive(
  request: Request,
  form: Received,
  type: string,
  { maxBytes, maxFiles, folder }: Options,
): Promise<void> {
  const parser = new Busboy({
    headers: { 'content-type': type } as BusboyHeaders,
    limits: { ...LIMITS, files: maxFiles, parts: LIMITS.fields + maxFiles, fileSize: maxBytes },
  })
  const ended = Promise.withResolvers<void>()
  const over = new AbortController()
  const writing: Promise<void>[] = []
  const fail = (error: unknown) => {
    ended.reject(error)
    parser.destroy()
    // The parser leaves a started file open, and its writer would wait forever for the rest.
    over.abort()
  }
  parser.on('file', (name: string | undefined, stream, filename = '') => {
    const field = name ?? ''
    const path = join(folder, randomBase62(24))
    form.files.push({ field, filename, path })
    stream.once('limit', () => fail(payloadTooLarge(maxBytes)))
    const disk = createWriteStream(path, { flags: 'wx', mode: 0o600 })
    const written = pipeline(stream as unknown as Readable, disk, { signal: over.signal })
    writing.push(
      written.catch((error) =>
        fail(
          new AppError('storage_unavailable', 'The file could not be stored right now. Try again shortly.', {
            cause: error,
          }),
        ),
      ),
    )
  })
  // Contrary to the parser's types, a part can lack a name.
  parser.on('field', (name: string | undefined, value: string, _isNameCut: boolean, isCut: boolean) => {
    if (name === undefined) return fail(broken('it has a part without a name'))
    if (isCut)
      return fail(invalidInput(name, `"${name}" has more than ${LIMITS.fieldSize} bytes, the most of a field.`))
    // A part may claim to be UTF-16, which can contain half a surrogate pair.
    if (value.includes('\0') || !value.isWellFormed())
      return fail(invalidInput(name, `"${name}" holds a NUL character or half of a surrogate pair. Remove it.`))
    const before = name.endsWith('[]') ? form.fields.get(name) : undefined
    form.fields.set(name, before === undefined ? value : `${before},${value}`)
  })
  parser.once('filesLimit', () => fail(broken(`it has more than ${maxFiles === 1 ? 'one file' : `${maxFiles} files`}`)))
  parser.once('partsLimit', () => fail(broken('it has too many parts')))
  parser.once('fieldsLimit', () => fail(broken('it has too many fields')))
  parser.once('error', () => fail(broken('it is incomplete, or its parts cannot be separated')))
  parser.once('finish', () => ended.resolve())
  const feeding = feed(request, parser, maxBytes * maxFiles, ended.promise).catch(fail)
  try {
    await ended.promise
    await feeding
    await Promise.all(writing)
  } finally {
    await Promise.allSettled(writing)
  }
}

async function feed(request: Request, parser: BusboyInstance, maxBytes: number, ended: Promise<void>): Promise<void> {
  const isOver = ended.catch(() => undefined)
  for await (const piece of paced(request, maxBytes + FORM_BYTES)) {
    if (parser.destroyed) return
    if (parser.write(piece)) continue
    const drained = Promise.withResolvers<void>()
    parser.once('drain', drained.resolve)
    await Promise.race([drained.promise, isOver])
  }
  parser.end()
}
