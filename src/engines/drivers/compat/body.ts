import { createParser } from 'eventsource-parser'
import { EngineFailure } from '../../engine'
import type { UpstreamTimeout } from '../upstream-timeout'

const MAX_EVENT_CHARS = 256 * 1024
const MAX_TOTAL_BYTES = 50 * 1024 * 1024
/** Longest wait for the end of a finished stream, so that its connection can be reused. */
const END_WAIT_MS = 100

const tooLarge = (what: string) => new EngineFailure('too-large', `${what} of the upstream is too large`)

/** Reads piece by piece; `next` gives null at the end. Not a generator, because this runs for every token. */
type Reading<T> = { next(): Promise<T | null>; close(): Promise<void> }

/** The body as text, at most 50 MB; with a declared length nothing needs counting. */
export function readText(response: Response, timeout: UpstreamTimeout): Promise<string> {
  const declared = Number(response.headers.get('content-length') ?? Number.NaN)
  if (declared > MAX_TOTAL_BYTES) throw tooLarge('the answer')
  return declared >= 0 && !response.headers.has('content-encoding') ? response.text() : readPieceWise(response, timeout)
}

async function readPieceWise(response: Response, timeout: UpstreamTimeout): Promise<string> {
  const decoder = new TextDecoder()
  const bytes = openBytes(response, timeout)
  try {
    let text = ''
    for (let piece = await bytes.next(); piece; piece = await bytes.next())
      text += decoder.decode(piece, { stream: true })
    return text + decoder.decode()
  } finally {
    await bytes.close()
  }
}

/** The body as bytes. Throws `too-large` for more than `most`. */
export async function readBytes(response: Response, timeout: UpstreamTimeout, most: number): Promise<Uint8Array> {
  return Buffer.concat(await Array.fromAsync(readPieces(response, timeout, most)))
}

/** The body piece by piece, as it arrives. Throws `too-large` for more than `most` bytes. */
export async function* readPieces(response: Response, timeout: UpstreamTimeout, most: number) {
  if (Number(response.headers.get('content-length')) > most) throw tooLarge('the answer')
  const bytes = openBytes(response, timeout, most)
  try {
    for (let piece = await bytes.next(); piece; piece = await bytes.next()) yield piece
  } finally {
    await bytes.close()
  }
}

/**
 * Data of the server-sent events up to `[DONE]`, one batch per network read. Throws `too-large` for an event
 * over 256 KB or a stream over 50 MB.
 */
export function openEvents(response: Response, timeout: UpstreamTimeout): Reading<string[]> {
  const decoder = new TextDecoder()
  const bytes = openBytes(response, timeout)
  let events: string[] = []
  let done = false
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARS,
    onEvent({ data }) {
      if (data.length > MAX_EVENT_CHARS) throw tooLarge('one event')
      if (data === '[DONE]') done = true
      else if (!done) events.push(data)
    },
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw tooLarge('one event')
    },
  })

  return {
    async next() {
      events = []
      while (!done && events.length === 0) {
        const piece = await bytes.next()
        if (!piece) return null
        parser.feed(decoder.decode(piece, { stream: true }))
      }
      return events.length ? events : null
    },
    async close() {
      if (done) await atMost(END_WAIT_MS, bytes.next())
      await bytes.close()
    },
  }
}

/** Waits for a promise at most `ms`, and ignores its result. */
async function atMost(ms: number, something: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([something, late]).catch(() => null)
  clearTimeout(timer)
}

function openBytes(response: Response, timeout: UpstreamTimeout, most = MAX_TOTAL_BYTES): Reading<Uint8Array> {
  const reader = response.body?.getReader()
  let total = 0
  return {
    async next() {
      if (!reader) return null
      timeout.heard()
      const { value, done } = await reader.read()
      timeout.rest()
      if (done) return null
      total += value.length
      if (total > most) throw tooLarge('the answer')
      return value
    },
    // Cancels the rest of a stream that nobody reads, so that it does not keep its connection busy.
    close: async () => void (await reader?.cancel().catch(() => null)),
  }
}
