import { createParser } from 'eventsource-parser'
import { invalidAnswer, SvcError } from './transport'

/** One event of a stream: its name, and its data as JSON where it is JSON. */
export type StreamEvent = { event: string; data: unknown }

/** The events of a streamed answer. Leaving the loop ends the request. Throws SvcError for what is no whole stream. */
export async function* eventsOf(answer: Response): AsyncGenerator<StreamEvent> {
  if (!answer.headers.get('content-type')?.startsWith('text/event-stream')) {
    throw invalidAnswer(answer, await answer.text())
  }
  const come: StreamEvent[] = []
  const parser = createParser({
    onEvent: ({ event = 'message', data }) => come.push({ event, data: readData(data) }),
  })
  const decoder = new TextDecoder()
  const reader = answer.body!.getReader()
  let isWhole = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (value) parser.feed(decoder.decode(value, { stream: true }))
      for (const event of come.splice(0)) {
        isWhole ||= isLast(event)
        yield event
      }
      if (done && !isWhole) throw cutShort(answer)
      if (done) return
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** The last event of a native stream, of one of messages, and of one of responses. */
const ENDS = /^(?:done|error|message_stop|response\.(?:completed|incomplete|failed|cancelled))$/

/** Streams of chat end with `[DONE]` or an error (docs/api.md 4). */
const isLast = ({ event, data }: StreamEvent): boolean =>
  ENDS.test(event) || data === '[DONE]' || Object.hasOwn(Object(data), 'error')

function cutShort({ headers }: Response): SvcError {
  const words = 'The stream ended before the answer did.'
  return new SvcError(words, 0, 'network_error', 'connection_error', headers.get('x-request-id'))
}

function readData(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return data
  }
}
