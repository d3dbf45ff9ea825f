import { EngineFailure } from '../engine'
import { atMost } from './answers'
import { createEventSplitter, type WireEvent } from './events'
import type { UpstreamTimeout } from './upstream-timeout'

const MAX_TOTAL_BYTES = 50 * 1024 * 1024
/** Longest wait for the end of a finished stream, so that its connection can be reused. */
const END_WAIT_MS = 100

const tooLarge = (what: string) => new EngineFailure('too-large', `${what} of the upstream is too large`)

/** Reads piece by piece; `next` gives null at the end. Not a generator, because this runs for every token. */
type Reading<T> = { next(): Promise<T | null>; close(isWhole?: boolean): Promise<void> }

/** The body as text, at most 50 MB; with a declared length nothing needs counting. */
export function readText(response: Response, timeout: UpstreamTimeout): Promise<string> {
  const declared = Number(response.headers.get('content-length') ?? Number.NaN)
  if (declared > MAX_TOTAL_BYTES) throw tooLarge('the answer')
  return declared >= 0 && !response.headers.has('content-encoding')
    ? response.text().catch(brokeOff)
    : readPieceWise(response, timeout)
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
export async function readBytes(response: Response, timeout: UpstreamTimeout, max: number): Promise<Uint8Array> {
  return Buffer.concat(await Array.fromAsync(readPieces(response, timeout, max)))
}

/** The body piece by piece, as it arrives. Throws `too-large` for more than `most` bytes. */
export async function* readPieces(response: Response, timeout: UpstreamTimeout, max: number) {
  if (Number(response.headers.get('content-length')) > max) throw tooLarge('the answer')
  const bytes = openBytes(response, timeout, max)
  try {
    for (let piece = await bytes.next(); piece; piece = await bytes.next()) yield piece
  } finally {
    await bytes.close()
  }
}

/** The JSON of the server-sent events, one batch per network read. Throws `too-large` for a stream over 50 MB. */
export function openEvents(response: Response, timeout: UpstreamTimeout): Reading<WireEvent[]> {
  const decoder = new TextDecoder()
  const bytes = openBytes(response, timeout)
  const splitter = createEventSplitter()

  async function drained(): Promise<void> {
    while (await bytes.next());
  }

  return {
    async next() {
      while (!splitter.isDone) {
        const piece = await bytes.next()
        const events = piece ? splitter.take(decoder.decode(piece, { stream: true })) : splitter.end()
        if (events.length) return events
        if (!piece) break
      }
      return null
    },
    async close(isWhole) {
      if (splitter.isDone || isWhole) await atMost(END_WAIT_MS, drained())
      await bytes.close()
    },
  }
}

/** See {@link EngineFailure.begun}. */
const brokeOff = (cause: unknown): never => {
  throw new EngineFailure('truncated', 'the answer of the upstream broke off', { begun: true, cause })
}

function openBytes(response: Response, timeout: UpstreamTimeout, max = MAX_TOTAL_BYTES): Reading<Uint8Array> {
  const reader = response.body?.getReader()
  let total = 0
  return {
    async next() {
      if (!reader) return null
      timeout.heard()
      const { value, done } = await reader.read().catch(brokeOff)
      timeout.rest()
      if (done) return null
      total += value.length
      if (total > max) throw tooLarge('the answer')
      return value
    },
    // Cancels the rest of a stream that nobody reads, so that it does not keep its connection busy.
    close: async () => void (await reader?.cancel().catch(() => null)),
  }
}
