import { randomHex } from '../../kernel/crypto'
import { parsedJson } from '../../kernel/json'
import { trustedFetch } from '../../kernel/outbound'
import type { Segment, Transcription, TranscriptionRequest, VideoDriver, VideoState, Word } from '../engine'
import { type Driver, EngineFailure, SPEECH_FORMATS } from '../engine'
import { failureOfStatus } from '../failures'
import { readBytes, readPieces, readText } from './compat-body'
import {
  type CallOptions,
  headersOf,
  STREAM_TIMEOUT_MS,
  send,
  UpstreamTimeout,
  urlOf,
  withoutRefused,
  withTimeout,
} from './upstream'

/** Twice the size of an hour at 64 kbit/s. */
const MAX_SPEECH_BYTES = 64 * 1024 * 1024

export type TranscriptionOptions = { translates?: boolean | undefined }

/** Transcription by any server with `POST /audio/transcriptions`, translation by one with `/audio/translations`. */
export function createCompatTranscription(
  options: CallOptions & TranscriptionOptions,
): Required<Pick<Driver, 'transcribe' | 'translates'>> {
  const headers = headersOf(options)
  return {
    translates: options.translates ?? false,
    transcribe: (request) =>
      withTimeout(request.signal, options, async (timeout) => {
        const path = request.english ? '/audio/translations' : '/audio/transcriptions'
        // Newer models give words only, and refuse this format.
        const response = await withoutRefused({ response_format: 'verbose_json' }, ['response_format'], (format) => {
          const form = formOf(request, format)
          return send(urlOf(options, path), options, timeout, {
            method: 'POST',
            headers: { ...headers, ...form.headers },
            body: form.body() as unknown as BodyInit,
          })
        })
        return readTranscription(await readText(response, timeout))
      }),
  }
}

/**
 * The form of a request. Built by hand, because `FormData` reads a whole file into memory twice and blocks the event
 * loop meanwhile.
 */
function formOf(
  { model, path, filename, mimeType, language, prompt, temperature, words, english }: TranscriptionRequest,
  { response_format: format }: Record<string, unknown>,
) {
  const boundary = `svc-${randomHex(16)}`
  const field = (name: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const file = Bun.file(path)
  const fields = [field('model', model), ...(format ? [field('response_format', String(format))] : [])]
  if (language && !english) fields.push(field('language', language))
  if (prompt) fields.push(field('prompt', prompt))
  if (temperature !== undefined) fields.push(field('temperature', String(temperature)))
  if (words && format) for (const one of ['segment', 'word']) fields.push(field('timestamp_granularities[]', one))
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\n`
  const before = Buffer.from(`${fields.join('')}${head}Content-Type: ${mimeType}\r\n\r\n`)
  const after = Buffer.from(`\r\n--${boundary}--\r\n`)
  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      // Explicit, because some servers reject a body of unknown length.
      'content-length': String(before.length + file.size + after.length),
    },
    async *body() {
      yield before
      yield* file.stream()
      yield after
    },
  }
}

/** Reads a transcription. Servers without `verbose_json` answer with plain text. Throws `malformed`. */
function readTranscription(body: string): Transcription {
  const wire = readObject(body)
  if (typeof wire.text !== 'string') throw malformed('holds no text')
  return {
    text: wire.text.trim(),
    language: typeof wire.language === 'string' ? wire.language : null,
    segments: Array.isArray(wire.segments) ? wire.segments.flatMap(readSegment) : [],
    words: Array.isArray(wire.words) ? wire.words.flatMap(readWord) : [],
  }
}

function readSegment(segment: unknown): Segment[] {
  const { text, ...when } = (segment ?? {}) as Record<string, unknown>
  return typeof text === 'string' && isTimed(when) ? [{ start: when.start, end: when.end, text: text.trim() }] : []
}

function readWord(one: unknown): Word[] {
  const { word, ...when } = (one ?? {}) as Record<string, unknown>
  return typeof word === 'string' && isTimed(when) ? [{ word, start: when.start, end: when.end }] : []
}

function isTimed(when: { start?: unknown; end?: unknown }): when is { start: number; end: number } {
  const { start, end } = when
  return typeof start === 'number' && typeof end === 'number' && start >= 0 && end >= start
}

/** Speech by any server with `POST /audio/speech`. */
export function createCompatSpeech(options: CallOptions): Required<Pick<Driver, 'speak'>> {
  const headers = { ...headersOf(options), 'content-type': 'application/json' }
  return {
    speak: ({ model, text, voice, speed, format, instructions, signal }) =>
      withTimeout(signal, options, async (timeout) => {
        const response = await send(urlOf(options, '/audio/speech'), options, timeout, {
          method: 'POST',
          headers,
          // The oldest models reject instructions.
          body: JSON.stringify({
            ...{ model, input: text, voice, speed, response_format: format },
            ...(instructions && !model.startsWith('tts-1') ? { instructions } : {}),
          }),
        })
        const bytes = await readBytes(response, timeout, MAX_SPEECH_BYTES)
        const { fileTypeFromBuffer } = await import('file-type')
        const found = (await fileTypeFromBuffer(bytes))?.mime.replace('/x-', '/')
        // PCM has no header, so only a known other type shows that the answer is not PCM.
        if (format === 'pcm' ? found === 'audio/mpeg' : !found?.startsWith(SPEECH_FORMATS[format]))
          throw new EngineFailure('malformed', `the answer is no ${format.toUpperCase()}`)
        return bytes
      }),
  }
}

/** The size of a minute at 130 Mbit/s. */
const MAX_VIDEO_BYTES = 1024 * 1024 * 1024
const MAX_STILL_BYTES = 32 * 1024 * 1024

/** Videos by any server with `POST /videos`, `GET /videos/{id}` and `GET /videos/{id}/content`. */
export function createCompatVideos(options: CallOptions): Required<Pick<Driver, 'video'>> {
  const own = headersOf(options)
  const json = { ...own, 'content-type': 'application/json' }

  const video: VideoDriver = {
    order: ({ signal, key, ...request }) =>
      withTimeout(signal, options, async (timeout) => {
        const headers = { ...json, 'idempotency-key': key }
        const { model, prompt, seconds, width, height } = request
        const wanted = IS_SORA.test(model)
          ? {
              seconds: String(SORA_SECONDS.find((max) => max >= seconds) ?? SORA_SECONDS.at(-1)!),
              size: width >= height ? '1280x720' : '720x1280',
            }
          : { seconds: String(seconds), size: `${width}x${height}` }
        const body = JSON.stringify({ model, prompt, ...wanted })
        const response = await ask('', timeout, { method: 'POST', headers, body })
        const { id } = readObject(await readText(response, timeout))
        if (typeof id !== 'string' || !/^[\w.:-]{1,256}$/.test(id)) throw malformed('names no video')
        return id
      }),

    look: (id, signal) =>
      withTimeout(signal, options, async (timeout) => {
        const response = await ask(`/${id}`, timeout, { headers: own })
        return readVideoState(readObject(await readText(response, timeout)))
      }),

    async *content(id, what, signal) {
      const timeout = new UpstreamTimeout(signal, options, STREAM_TIMEOUT_MS)
      try {
        const variant = what === 'video' ? '' : '?variant=thumbnail'
        const response = await ask(`/${id}/content${variant}`, timeout, { headers: own })
        yield* readPieces(response, timeout, what === 'video' ? MAX_VIDEO_BYTES : MAX_STILL_BYTES)
        timeout.finished()
      } catch (error) {
        throw timeout.explain(error)
      } finally {
        timeout.release()
      }
    },

    drop: (id, signal) =>
      withTimeout(signal, options, async (timeout) => {
        await readText(await ask(`/${id}`, timeout, { method: 'DELETE', headers: own }), timeout)
      }),
  }
  return { video }

  async function ask(path: string, timeout: UpstreamTimeout, init: RequestInit): Promise<Response> {
    const response = await trustedFetch(urlOf(options, `/videos${path}`), { ...init, signal: timeout.signal })
    timeout.heard()
    if (response.ok) return response
    const body = await readText(response, timeout)
    // A 502 comes from a proxy, so the server behind it may have accepted the request.
    if (response.status === 502) throw new EngineFailure('timeout', 'the upstream answered 502')
    throw failureOfStatus(response.status, response.headers, options.clock.now(), body)
  }
}

/** Models of this family support three lengths and two aspect ratios. */
const IS_SORA = /^sora-/
const SORA_SECONDS = [4, 8, 12]

const STATES: Record<string, VideoState['status']> = {
  ...{ queued: 'working', pending: 'working', in_queue: 'working', in_progress: 'working' },
  ...{ processing: 'working', running: 'working', preprocessing: 'working' },
  ...{ completed: 'made', succeeded: 'made', failed: 'failed', cancelled: 'failed', canceled: 'failed' },
}

/** Throws `malformed` for an unknown state. */
function readVideoState(wire: Record<string, unknown>): VideoState {
  const status = typeof wire.status === 'string' ? STATES[wire.status] : undefined
  if (!status) throw malformed('has no state that is known')
  if (status === 'working') return { status, percent: Math.min(99, Math.max(0, numberOf(wire.progress) ?? 0)) }
  if (status === 'made') {
    const [, width, height] = /^(\d{2,5})x(\d{2,5})$/.exec(String(wire.size)) ?? []
    const seconds = numberOf(wire.seconds)
    return { status, seconds: seconds && seconds > 0 ? seconds : null, width: pixels(width), height: pixels(height) }
  }
  const { code, message } = (typeof wire.error === 'object' && wire.error ? wire.error : {}) as Record<string, unknown>
  const words = typeof message === 'string' ? message.slice(0, 500) : ''
  const named = typeof code === 'string' && /^[\w.-]{1,60}$/.test(code) ? code : ''
  return { status, refused: /moderation|content_policy|safety|content_filter/i.test(named), code: named, words }
}

const pixels = (digits: string | undefined): number | null => (digits ? Number(digits) : null)

/** Reads a number. Some servers send numbers as text. */
function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}

function readObject(text: string): Record<string, unknown> {
  const value = parsedJson(text)
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  throw malformed(value === undefined ? 'is not JSON' : 'is not an object')
}

const malformed = (why: string) => new EngineFailure('malformed', `the answer ${why}`)
