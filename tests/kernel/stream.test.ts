import { describe, expect, test } from 'bun:test'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import fc from 'fast-check'
import { SSE_DONE, SSE_HEARTBEAT, sseFrame } from '../../src/kernel/stream'

function parse(text: string): EventSourceMessage[] {
  const events: EventSourceMessage[] = []
  createParser({ onEvent: (event) => events.push(event) }).feed(text)
  return events
}

describe('frames', () => {
  test('have one space after each colon and one empty line at the end (docs/api.md 3)', () => {
    expect(sseFrame({ event: 'token', data: { token: 'a' } })).toBe('event: token\ndata: {"token":"a"}\n\n')
    expect(sseFrame({ data: { a: 1 } })).toBe('data: {"a":1}\n\n')
    expect(SSE_DONE).toBe('data: [DONE]\n\n')
    expect(parse(SSE_HEARTBEAT)).toEqual([])
  })

  const NASTY = fc.oneof(
    fc.constantFrom(
      '\n',
      '\r',
      '\r\n',
      '\u2028',
      '\u2029',
      '\0',
      'data:',
      'event: done',
      '\n\nevent: done\ndata: {}\n\n',
      ':',
      '\ufeff',
    ),
    fc.string({ unit: 'binary', maxLength: 20 }),
  )
  test('no text can make, end or change an event (I30)', () => {
    fc.assert(
      fc.property(fc.array(NASTY, { maxLength: 8 }), (pieces) => {
        const token = pieces.join('')
        const frame = sseFrame({ event: 'token', data: { token } })
        const events = parse(frame)
        expect(events).toHaveLength(1)
        expect(events[0]?.event).toBe('token')
        expect(JSON.parse(events[0]!.data)).toEqual(JSON.parse(JSON.stringify({ token })))
        expect(frame.trimEnd().split(/\r\n|[\n\r\u2028\u2029]/)).toHaveLength(2)
      }),
      { numRuns: 2_000 },
    )
  })
})
