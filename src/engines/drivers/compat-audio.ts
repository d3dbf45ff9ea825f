import { fileTypeFromBuffer } from 'file-type'
import { randomHex } from '../../kernel/crypto'
import { trustedFetch } from '../../kernel/outbound'
import type { Segment, Transcription, TranscriptionRequest, Word } from '../engine'
import { type Driver, EngineFailure, SPEECH_FORMATS } from '../engine'
import { failureOfStatus } from '../failures'
import { readBytes, readText } from './compat-body'
import { type CallOptions, headersOf, PLAIN_TIMEOUT_MS, startTimeout, urlOf } from './upstream'

/** Twice the size of an hour at 64 kbit/s. */
const MAX_SPEECH_BYTES = 64 * 1024 * 1024

export type TranscriptionOptions = { translates?: boolean | undefined }

/** Transcription by any server with `POST /audio/transcriptions`, translation by one with `/audio/translations`. */
export function createCompatTranscription(
  options: CallOptions & TranscriptionOptions,
): Required<Pick<Driver, 'transcribe' | 'translates'>> {
  const { clock, timeoutMs = PLAIN_TIMEOUT_MS, silenceMs, translates = false } = options
  const headers = headersOf(options)
  return {
    translates,
    async transcribe(request) {
      const timeout = startTimeout(request.signal, { clock, timeoutMs, silenceMs })
      try {
        const form = formOf(request)
        const path = request.english ? '/audio/translations' : '/audio/transcriptions'
        const response = await trustedFetch(urlOf(options, path), {
          method: 'POST',
          headers: { ...headers, ...form.headers },
          body: form.body() as unknown as BodyInit,
          signal: timeout.signal,
        })
        timeout.heard()
        const body = await readText(response, timeout)
        timeout.finished()
        if (response.status === 200) return readTranscription(body)
        throw failureOfStatus(response.status, response.headers, clock.now(), body)
      } catch (error) {
        throw timeout.explain(error)
      } finally {
        timeout.release()
      }
    },
  }
}

/**
 * The form of a request. Built by hand, because `FormData` reads a whole file into memory twice and blocks the event
 * loop meanwhile.
 */
function formOf({
  model,
  path,
  filename,
  mimeType,
  language,
  prompt,
  temperature,
  words,
  english,
}: TranscriptionRequest) {
  const boundary = `svc-${randomHex(16)}`
  const field = (name: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const file = Bun.file(path)
  const fields = [field('model', model), field('response_format', 'verbose_json')]
  if (language && !english) fields.push(field('language', language))
  if (prompt) fields.push(field('prompt', prompt))
  if (temperature !== undefined) fields.push(field('temperature', String(temperature)))
  if (words) for (const one of ['segment', 'word']) fields.push(field('timestamp_granularities[]', one))
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
  if (typeof wire.text !== 'string') throw new EngineFailure('malformed', 'the answer holds no text')
  return {
    text: wire.text.trim(),
    language: typeof wire.language === 'string' ? wire.language : null,
    segments: Array.isArray(wire.segments) ? wire.segments.flatMap(readSegment) : [],
    words: Array.isArray(wire.words) ? wire.words.flatMap(readWord) : [],
  }
}

function readObject(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch (cause) {
    throw new EngineFailure('malformed', 'the answer is not JSON', { cause })
  }
  throw new EngineFailure('malformed', 'the answer is not an object')
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
  const { clock, timeoutMs = PLAIN_TIMEOUT_MS, silenceMs } = options
  const headers = { ...headersOf(options), 'content-type': 'application/json' }
  return {
    async speak({ model, text, voice, speed, format, instructions, signal }) {
      const timeout = startTimeout(signal, { clock, timeoutMs, silenceMs })
      try {
        const response = await trustedFetch(urlOf(options, '/audio/speech'), {
          method: 'POST',
          headers,
          // The oldest models reject instructions.
          body: JSON.stringify({
            ...{ model, input: text, voice, speed, response_format: format },
            ...(instructions && !model.startsWith('tts-1') ? { instructions } : {}),
          }),
          signal: timeout.signal,
        })
        timeout.heard()
        if (response.status !== 200) {
          const body = await readText(response, timeout)
          throw failureOfStatus(response.status, response.headers, clock.now(), body)
        }
        const bytes = await readBytes(response, timeout, MAX_SPEECH_BYTES)
        timeout.finished()
        const found = (await fileTypeFromBuffer(bytes))?.mime.replace('/x-', '/')
        // PCM has no header, so only a known other type shows that the answer is not PCM.
        if (format === 'pcm' ? found === 'audio/mpeg' : !found?.startsWith(SPEECH_FORMATS[format]))
          throw new EngineFailure('malformed', `the answer is no ${format.toUpperCase()}`)
        return bytes
      } catch (error) {
        throw timeout.explain(error)
      } finally {
        timeout.release()
      }
    },
  }
}
