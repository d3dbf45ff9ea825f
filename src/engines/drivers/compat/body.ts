import { createParser } from 'eventsource-parser'
import { EngineFailure } from '../../engine'
import type { Leash } from '../leash'

const MAX_EVENT_CHARS = 256 * 1024
const MAX_TOTAL_BYTES = 50 * 1024 * 1024
/** How long the end of a finished stream is waited for, so that its connection can serve the next call. */
const END_WAIT_MS = 100

const tooLarge = (what: string) => new EngineFailure('too-large', `${what} of the upstream is too large`)

/** The body as text, at most 50 MB; a declared length lets the common case skip the counting. */
export async function readText(response: Response, leash: Leash): Promise<string> {
  const declared = Number(response.headers.get('content-length') ?? Number.NaN)
  if (declared > MAX_TOTAL_BYTES) throw tooLarge('the answer')
  if (declared >= 0 && !response.headers.has('content-encoding')) return await response.text()
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of readBytes(response, leash)) text += decoder.decode(bytes, { stream: true })
  return text + decoder.decode()
}

/** What one read brought: the data of each whole event, and whether `[DONE]` was among them. */
export type Events = { events: string[]; done: boolean }

/** Server-sent events, one batch a read: an event over 256 KB or a stream over 50 MB is refused. */
export async function* readEvents(response: Response, leash: Leash): AsyncGenerator<Events> {
  const decoder = new TextDecoder()
  let batch: Events = { events: [], done: false }
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARS,
    onEvent({ data }) {
      if (data.length > MAX_EVENT_CHARS) throw tooLarge('one event')
      if (data === '[DONE]') batch.done = true
      else if (!batch.done) batch.events.push(data)
    },
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw tooLarge('one event')
    },
  })
  for await (const bytes of readBytes(response, leash, () => batch.done)) {
    parser.feed(decoder.decode(bytes, { stream: true }))
    if (batch.done) break
    if (!batch.events.length) continue
    yield batch
    batch = { events: [], done: false }
  }
  if (batch.done) yield batch
}

/** `over` says that what matters has been read; the end is then waited for only as long as reuse is worth. */
async function* readBytes(response: Response, leash: Leash, over = () => false): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader()
  if (!reader) return
  let total = 0
  try {
    for (;;) {
      leash.heard()
      const { value, done } = await reader.read()
      if (done) return
      total += value.length
      if (total > MAX_TOTAL_BYTES) throw tooLarge('the answer')
      leash.rest()
      yield value
    }
  } finally {
    if (over()) await Promise.race([reader.read(), Bun.sleep(END_WAIT_MS)]).catch(() => null)
    // What is left of a stream nobody reads any more must not keep its connection busy.
    await reader.cancel().catch(() => null)
  }
}
