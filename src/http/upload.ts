import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import { randomBase62 } from '../kernel/crypto'
import { AppError } from '../kernel/errors'
import { paced, payloadTooLarge } from './intake'

/** A form with at most one file, which lies on the disk until `discard` is called. */
export type Upload = {
  readonly fields: ReadonlyMap<string, string>
  /** Its name is what the sender calls it: only to be shown. */
  readonly file: { field: string; path: string; filename: string } | null
  discard(): Promise<void>
}

type Options = {
  /** Of the file. */
  maxBytes: number
  folder: string
}

/** What a form may have besides its file. */
export const FORM_BYTES = 256 * 1024
const LIMITS = {
  files: 1,
  fields: 32,
  parts: 33,
  fieldNameSize: 100,
  fieldSize: 4_096,
  headerPairs: 16,
  headerSize: 8_192,
}
/** RFC 2046. */
const BOUNDARY = /;\s*boundary=(?:"[^"]{1,70}"|[^\s;"]{1,70})\s*(?:;|$)/i
/** Forms that are received or read at a time, so that uploads cannot fill the disk. */
const MAX_AT_ONCE = 40

const counted = { now: 0 }

const broken = (why: string) =>
  new AppError('invalid', 'validation_error', `The body is not valid multipart/form-data: ${why}.`)

const tooMany = () =>
  new AppError('unavailable', 'service_unavailable', 'Too many files are being sent at once. Try again in a second.', {
    retryAfterS: 1,
  })

/**
 * Receives a form piece by piece, its file on the disk and never whole in memory. Throws 400 `validation_error`,
 * 413 `payload_too_large`, 503 `service_unavailable` or `storage_unavailable`, 504 `request_timeout`.
 */
export async function receiveUpload(request: Request, { maxBytes, folder }: Options): Promise<Upload> {
  const type = request.headers.get('content-type') ?? ''
  if (!BOUNDARY.test(type)) throw broken('its Content-Type has no boundary of at most 70 characters')
  if (counted.now >= MAX_AT_ONCE) throw tooMany()
  counted.now += 1
  const path = join(folder, randomBase62(24))
  const discard = async () => {
    counted.now -= 1
    await rm(path, { force: true })
  }
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const { fields, file } = await received(request, path, type, maxBytes)
    return { fields, file: file && { ...file, path }, discard }
  } catch (error) {
    await discard()
    throw error
  }
}

type Received = { fields: Map<string, string>; file: { field: string; filename: string } | null }

async function received(request: Request, path: string, type: string, maxBytes: number): Promise<Received> {
  const parser = new Busboy({
    headers: { 'content-type': type } as BusboyHeaders,
    limits: { ...LIMITS, fileSize: maxBytes },
  })
  const ended = Promise.withResolvers<void>()
  const over = new AbortController()
  const writing: Promise<void>[] = []
  const form: Received = { fields: new Map(), file: null }
  const fail = (error: unknown) => {
    ended.reject(error)
    parser.destroy()
    // The parser leaves a file that it has begun open, and its writer would wait for the rest for ever.
    over.abort()
  }
  parser.on('file', (field, stream, filename = '') => {
    form.file = { field, filename }
    stream.once('limit', () => fail(payloadTooLarge(maxBytes)))
    const disk = createWriteStream(path, { flags: 'wx', mode: 0o600 })
    const written = pipeline(stream as unknown as Readable, disk, { signal: over.signal })
    writing.push(
      written.catch((error) =>
        fail(
          new AppError(
            'unavailable',
            'storage_unavailable',
            'The file could not be stored right now. Try again shortly.',
            {
              cause: error,
            },
          ),
        ),
      ),
    )
  })
  parser.on('field', (name, value) => form.fields.set(name, value))
  parser.once('filesLimit', () => fail(broken('it has more than one file')))
  parser.once('partsLimit', () => fail(broken('it has too many parts')))
  parser.once('fieldsLimit', () => fail(broken('it has too many fields')))
  parser.once('error', () => fail(broken('it is incomplete, or its parts cannot be separated')))
  parser.once('finish', () => ended.resolve())
  const feeding = feed(request, parser, maxBytes, ended.promise).catch(fail)
  try {
    await ended.promise
    await feeding
    await Promise.all(writing)
    return form
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
