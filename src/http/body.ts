import { AppError } from '../kernel/errors'
import { parseUntrustedJson } from '../kernel/json'

/** Room for a 15 MiB image as base64 (contract 1.1). */
export const MAX_JSON_BYTES = 24 * 1024 * 1024
/** Above this Bun itself answers, with no envelope; so it stands well above ours. */
export const MAX_TRANSPORT_BYTES = 64 * 1024 * 1024

export const payloadTooLarge = () =>
  new AppError('too_large', 'payload_too_large', `The body is larger than ${MAX_JSON_BYTES / 1024 / 1024} MiB.`)

const unsupportedMediaType = (what: string) =>
  new AppError('unsupported', 'unsupported_media_type', `${what} Send JSON with Content-Type: application/json.`)

const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

/** Refuses by headers alone, before a byte of the body is read (413, 415). */
export function assertBodyHeaders(request: Request, multipartAllowed: boolean): void {
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
  if (/^application\/json\s*(;|$)/i.test(type)) return
  if (multipartAllowed && /^multipart\/form-data\s*;/i.test(type)) return
  throw unsupportedMediaType(type ? `Content-Type is "${type.slice(0, 40)}".` : 'Content-Type is missing.')
}

/** The body as JSON, or undefined when there is none. Throws 400 `validation_error`, 413. */
export async function readJson(request: Request): Promise<unknown> {
  const bytes = await readBytes(request)
  return bytes.length ? parseUntrustedJson(bytes) : undefined
}

async function readBytes(request: Request): Promise<Uint8Array> {
  if (request.headers.has('content-length')) return new Uint8Array(await request.arrayBuffer())
  if (!request.body) return new Uint8Array()
  // A chunked body has no declared size: count as it comes and stop at the limit.
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > MAX_JSON_BYTES) throw payloadTooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
