import { createParser } from 'eventsource-parser'

/** One event of a stream: its name, and its data as JSON where it is JSON. */
export type StreamEvent = { event: string; data: unknown }

/** The events of a streamed answer. Leaving the loop ends the request. */
export async function* eventsOf(answer: Response): AsyncGenerator<StreamEvent> {
  const come: StreamEvent[] = []
  const parser = createParser({
    onEvent: ({ event = 'message', data }) => come.push({ event, data: readData(data) }),
  })
  const decoder = new TextDecoder()
  const reader = answer.body!.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (value) parser.feed(decoder.decode(value, { stream: true }))
      yield* come.splice(0)
      if (done) return
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function readData(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return data
  }
}
