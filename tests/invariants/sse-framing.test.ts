import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { startTarget } from '../catalogue/support'
import { parseChat, parseNative, textOfChat, textOfNative } from '../catalogue/support/frames'
import { keepsItsPromises } from '../catalogue/support/oracle'
import { startByteUpstream } from './byte-upstream'

const upstream = await startByteUpstream()
const target = await startTarget({ engine: 'builtin', env: { SVC_ENGINE_BASE_URL: upstream.url } })

/** Whatever could end a line, a frame, a stream or a string, among ordinary words of many scripts. */
const AWKWARD = [
  '\n',
  '\r',
  '\r\n',
  '\n\n',
  '\u2028',
  '\u2029',
  '\u0085',
  '\0',
  'data:',
  'event: done',
  'event:error\n',
  ': ',
  'id: 7',
  'retry: 1',
  '[DONE]',
  'data: [DONE]\n\n',
  '"',
  '\\',
  '\\u0000',
  '</script>',
  '\ufeff',
  '😀',
  '👩‍👩‍👧',
  'नमस्ते',
  '漢字',
  '\u202e',
]
const piece = fc.oneof(
  fc.constantFrom(...AWKWARD),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }),
  fc.lorem({ maxCount: 3 }),
)
const answer = fc.array(piece, { minLength: 1, maxLength: 25 }).map((pieces) => pieces.join(''))
/** Where the upstream cuts the text into deltas: anywhere, in the middle of a pair as well. */
const cuts = fc.array(fc.nat(400), { maxLength: 12 })

const cutAt = (text: string, places: readonly number[]): string[] => {
  const ends = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b)
  return [...ends, text.length].map((end, at) => text.slice(at ? ends[at - 1] : 0, end)).filter(Boolean)
}
/** What can be stored and sent of a text: NUL cannot, so it is left out on the way in. */
const storable = (text: string) => text.replaceAll('\0', '').toWellFormed()

let plays = 0
async function play(text: string, places: readonly number[], writeBytes: number) {
  const name = `play${++plays}`
  upstream.prepare(name, { pieces: cutAt(text, places), writeBytes })
  return name
}

async function assertNative(text: string, places: readonly number[], writeBytes: number): Promise<void> {
  const prompt = await play(text, places, writeBytes)
  const reply = await target.send('POST', 'completions', { body: { prompt, mode: 'fast', stream: true } })
  const frames = parseNative(reply.text)
  const done = frames.at(-1)!
  expect(done.event).toBe('done')
  expect(textOfNative(frames)).toBe(storable(text))
  expect(done.data.content).toBe(storable(text))
  const { body } = await target.send('GET', `conversations/${done.data.conversation_id}`)
  expect(body.conversation.messages[1].content).toBe(storable(text))
}

async function assertChat(text: string, places: readonly number[], writeBytes: number): Promise<void> {
  const prompt = await play(text, places, writeBytes)
  const body = { model: 'svc-1-flash', messages: [{ role: 'user', content: prompt }], stream: true }
  const chunks = parseChat((await target.send('POST', 'chat/completions', { body })).text)
  expect(textOfChat(chunks)).toBe(storable(text))
  for (const { choices } of chunks) expect((choices[0]?.delta.content ?? '').isWellFormed()).toBe(true)
  expect(chunks.filter(({ choices }) => choices[0]?.finish_reason)).toHaveLength(1)
}

describe('I30 what a client receives of a stream', () => {
  test('native: 250 random texts, cut anywhere, arrive as they were said and are kept like that', async () => {
    await fc.assert(
      fc.asyncProperty(answer, cuts, (text, places) => assertNative(text, places, 1_000_000)),
      { numRuns: 250, seed: 30 },
    )
  }, 60_000)

  test('chat: 250 random texts, the same', async () => {
    await fc.assert(
      fc.asyncProperty(answer, cuts, (text, places) => assertChat(text, places, 1_000_000)),
      { numRuns: 250, seed: 31 },
    )
  }, 60_000)

  test.each([1, 2, 3, 7])(
    'an upstream that writes %i bytes at a time is read like one that writes all at once',
    async (writeBytes) => {
      const text = AWKWARD.join(' ')
      await assertNative(text, [1, 5, 9, 40], writeBytes)
      await assertChat(text, [2, 6, 11], writeBytes)
    },
    30_000,
  )

  test('a pair cut in two by the upstream reaches the reader whole; half of one becomes the replacement character', async () => {
    await assertChat('a😀b', [2], 1_000_000)
    await assertChat('a\ud83d', [], 1_000_000)
    await assertNative('a\ud83db', [1, 2], 1_000_000)
    await assertNative('\ude00a', [1], 1_000_000)
  })
})

keepsItsPromises(target)
