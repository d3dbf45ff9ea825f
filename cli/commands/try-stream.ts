import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { send } from '../../src/app/client'
import { clean } from '../../src/kernel/text'
import type { TenantApi } from '../connection'
import { EXIT } from '../exit'
import { CommandFailed, replyFailure } from '../failure'
import { formatOf } from '../globals'
import { safeJson } from '../output/json'
import type { Shell } from '../shell'
import type { Answer, TryBody } from './try-words'

type Frames = { meta?: Partial<Answer>; done?: Partial<Answer> }

/**
 * Prints an answer while it arrives: plain text in table format, one JSON event per line in every other.
 * @throws CommandFailed when the stream ends with an error, or without its end
 */
export async function streamAnswer(shell: Shell, { target, key }: TenantApi, body: TryBody): Promise<Answer> {
  const response = await send(target, '/api/v1/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: shell.signal,
  })
  if (!response.ok || !response.body) throw replyFailure(response.status, await response.text())
  const frames: Frames = {}
  const asText = ['table', 'wide'].includes(formatOf(shell.globals))
  const show = asText
    ? (frame: EventSourceMessage) => {
        if (frame.event === 'token') shell.io.raw(clean(String(JSON.parse(frame.data).token)))
      }
    : (frame: EventSourceMessage) => {
        shell.io.out(safeJson({ event: frame.event, data: JSON.parse(frame.data) }))
      }
  const parser = createParser({
    onEvent: (frame) => {
      const data = JSON.parse(frame.data)
      if (frame.event === 'error') throw replyFailure(500, data)
      if (frame.event === 'meta') frames.meta = data
      if (frame.event === 'done') frames.done = data
      show(frame)
    },
  })
  const decoder = new TextDecoder()
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    parser.feed(decoder.decode(chunk, { stream: true }))
  }
  if (asText) shell.io.raw('\n')
  return joined(frames)
}

function joined({ meta, done }: Frames): Answer {
  if (meta && done) return { ...meta, ...done } as Answer
  throw new CommandFailed({
    exitCode: EXIT.failed,
    code: 'stream_cut',
    message: 'The stream stopped before its end. The answer above may be incomplete.',
  })
}
