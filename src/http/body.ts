import { AppError } from '../kernel/errors'
import { parseUntrustedJson } from '../kernel/json'
import { NO_BODY } from '../kernel/schema'
import { MAX_JSON_BYTES, payloadTooLarge, takeBody } from './intake'
import type { RouteRule } from './route-rules'
import { FORM_BYTES } from './upload'

/** Bun itself refuses larger bodies, without our error envelope, so this is well above our own limit. */
export const MAX_TRANSPORT_BYTES = 64 * 1024 * 1024

const JSON_WANTED = 'Send JSON with Content-Type: application/json.'

const unsupportedMediaType = (what: string, wanted = JSON_WANTED) =>
  new AppError('unsupported', 'unsupported_media_type', `${what} ${wanted}`)

const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

type BodyRule = Pick<RouteRule, 'body' | 'maxBytes'>
const JSON_RULE = { body: 'json', open: false, maxBytes: MAX_JSON_BYTES } as const

/** The type of a body that is not JSON. */
const OTHER_TYPES = {
  form: 'application/x-www-form-urlencoded',
  upload: 'multipart/form-data',
} as const

/** Checks size and type by the headers, before any of the body is read. Throws 413 or 415. */
export function assertBodyHeaders(request: Request, { body, maxBytes }: BodyRule = JSON_RULE): void {
  const { headers } = request
  const declared = headers.get('content-length')
  const max = body === 'upload' ? maxBytes + FORM_BYTES : maxBytes
  if (declared !== null && Number(declared) > max) throw payloadTooLarge(maxBytes)
  if (!METHODS_WITH_BODY.has(request.method)) return
  const hasBody = declared === null ? headers.has('transfer-encoding') : declared !== '0'
  if (!hasBody) return
  const encoding = headers.get('content-encoding')
  if (encoding && encoding !== 'identity')
    throw unsupportedMediaType(`Content-Encoding "${encoding.slice(0, 40)}" is not supported.`)
  const type = headers.get('content-type') ?? ''
  const notice = type ? `Content-Type is "${type.slice(0, 40)}".` : 'Content-Type is missing.'
  if (body === 'form' || body === 'upload') {
    if (type.split(';')[0]!.trim().toLowerCase() === OTHER_TYPES[body]) return
    throw unsupportedMediaType(notice, `Send ${OTHER_TYPES[body]}.`)
  }
  if (/^application\/json\s*(;|$)/i.test(type)) {
    const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(type)?.[1]
    if (charset === undefined || /^utf-?8$/i.test(charset)) return
    throw unsupportedMediaType(`The charset is "${charset.slice(0, 40)}", but only UTF-8 is supported.`)
  }
  throw unsupportedMediaType(notice)
}

/** Whether the headers announce a body. */
export const hasBody = ({ headers }: Request): boolean =>
  (headers.get('content-length') ?? '0') !== '0' || headers.has('transfer-encoding')

/** After a body of this size other requests get a turn, as it took long to read and will take long to answer. */
const LARGE_BYTES = 256 * 1024

/** Called with the bytes of a body before they are parsed; `parsed` parses them on demand, or throws 400. */
type Look = (bytes: Uint8Array, parsed: () => unknown) => Promise<void>
type Reading = Pick<RouteRule, 'body' | 'open' | 'maxBytes'> & { look?: Look }

/**
 * The body as JSON, or `NO_BODY`. Throws 400 `validation_error`, 413, 503 `service_unavailable`, 504 `request_timeout`.
 */
export async function readJson(
  request: Request,
  { body, open, maxBytes, look }: Reading = JSON_RULE,
): Promise<unknown> {
  const taken = await takeBody(request, { maxBytes, isPublic: open })
  try {
    const read = body === 'ignored' ? () => NO_BODY : parse
    const value = look ? await lookedAt(taken.bytes, read, look) : read(taken.bytes)
    // Requests that wait meanwhile get a turn here (I28).
    if (taken.bytes.length > LARGE_BYTES) await new Promise<void>((resolve) => setImmediate(resolve))
    return value
  } finally {
    taken.release()
  }
}

/** A body that is not JSON, or whose bytes are signed: a form's fields, or bytes. Throws as `readJson` does. */
export async function readOther(request: Request, { body, open, maxBytes }: RouteRule): Promise<unknown> {
  const { bytes, release } = await takeBody(request, { maxBytes, isPublic: open })
  try {
    if (body === 'form') return Object.fromEntries(new URLSearchParams(new TextDecoder().decode(bytes)))
    return bytes
  } finally {
    release()
  }
}

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
