import { AppError } from '../kernel/errors'
import { parseUntrustedJson } from '../kernel/json'

/** Largest JSON body: room for a 15 MiB image as base64 (contract 1.1). */
export const MAX_JSON_BYTES = 24 * 1024 * 1024
/** Bun itself refuses larger bodies, without our error envelope, so this is well above our own limit. */
export const MAX_TRANSPORT_BYTES = 64 * 1024 * 1024

export const payloadTooLarge = () =>
  new AppError('too_large', 'payload_too_large', `The body is larger than ${MAX_JSON_BYTES / 1024 / 1024} MiB.`)

const unsupportedMediaType = (what: string) =>
  new AppError('unsupported', 'unsupported_media_type', `${what} Send JSON with Content-Type: application/json.`)

const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

/** Checks size and type by the headers, before any of the body is read. Throws 413 or 415. */
export function assertBodyHeaders(request: Request, multipartAllowed: boolean, formAllowed = false): void {
  const { headers } = request
  const declared = headers.get('content-length')
  if (declared !== null && Number(declared) > MAX_JSON_BYTES) throw payloadTooLarge()
  if (!METHODS_WITH_BODY.has(request.method)) return
  const hasBody = declared === null ? headers.has('transfer-encoding') : declared !== '0'
  if (!hasBody) return
  const encoding = headers.get('content-encoding')
  if (encoding && encoding !== 'identity')
    throw unsupportedMediaType(`Content-Encoding "${encoding.slice(0, 40)}" is not read.`)
  const type = headers.get('content-type') ?? ''
  if (/^application\/json\s*(;|$)/i.test(type)) {
    const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(type)?.[1]
    if (charset === undefined || /^utf-?8$/i.test(charset)) return
    throw unsupportedMediaType(`The charset is "${charset.slice(0, 40)}", and only UTF-8 is read.`)
  }
  if (multipartAllowed && /^multipart\/form-data\s*;/i.test(type)) return
  if (formAllowed && /^application\/x-www-form-urlencoded\s*(;|$)/i.test(type)) return
  throw unsupportedMediaType(type ? `Content-Type is "${type.slice(0, 40)}".` : 'Content-Type is missing.')
}

/** Bodies above this size share the budget below; smaller ones are never refused for it. */
const LARGE_BYTES = 256 * 1024
/** Limit on large bodies in memory at one time, over all requests: reading one takes several times its size (I29). */
const MAX_READING_BYTES = 2 * MAX_JSON_BYTES
let readingBytes = 0

const tooManyLargeBodies = () =>
  new AppError(
    'unavailable',
    'service_unavailable',
    'Too many large bodies are being read at once. Try again in a second.',
    {
      retryAfterS: 1,
    },
  )

/** Called with the bytes of a body before they are parsed; `parsed` parses them on demand, or throws 400. */
type Look = (bytes: Uint8Array, parsed: () => unknown) => Promise<void>

/** The body as JSON, or undefined when there is none. Throws 400 `validation_error`, 413, 503 `service_unavailable`. */
export async function readJson(request: Request, look?: Look): Promise<unknown> {
  const declared = Number(request.headers.get('content-length') ?? Number.NaN)
  if (declared <= LARGE_BYTES) {
    const bytes = new Uint8Array(await request.arrayBuffer())
    return look ? lookedAt(bytes, look) : parse(bytes)
  }
  if (!request.body) return look ? lookedAt(new Uint8Array(), look) : undefined
  const body = startReading()
  try {
    for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) body.take(chunk)
    const value = look ? await lookedAt(body.whole(), look) : parse(body.whole())
    // A large body takes long to read and to answer, so requests that wait meanwhile get a turn here (I28).
    await breathe()
    return value
  } finally {
    body.end()
  }
}

const breathe = () => new Promise<void>((resolve) => setImmediate(resolve))

const parse = (bytes: Uint8Array): unknown => (bytes.length ? parseUntrustedJson(bytes) : undefined)

async function lookedAt(bytes: Uint8Array, look: Look): Promise<unknown> {
  let known: { value: unknown } | null = null
  const parsed = () => {
    known ??= { value: parse(bytes) }
    return known.value
  }
  await look(bytes, parsed)
  return parsed()
}

/** Collects a body that is large or of unknown size, and counts it against the limit and the budget. */
function startReading() {
  const chunks: Uint8Array[] = []
  let size = 0
  let claimed = 0
  return {
    take(chunk: Uint8Array): void {
      size += chunk.length
      if (size > MAX_JSON_BYTES) throw payloadTooLarge()
      if (size > LARGE_BYTES) {
        const more = size - claimed
        if (readingBytes + more > MAX_READING_BYTES) throw tooManyLargeBodies()
        readingBytes += more
        claimed = size
      }
      chunks.push(chunk)
    },
    whole: (): Uint8Array => Buffer.concat(chunks),
    end(): void {
      readingBytes -= claimed
      claimed = 0
    },
  }
}
