import { expect, test } from 'bun:test'
import { createLinePattern } from '../../../src/engines/drivers/compat-body'
import { createStreamReader } from '../../../src/engines/drivers/compat-from-wire'
import { EngineFailure } from '../../../src/engines/engine'
import { seededRandom } from '../../support/random'

type Dialect = (id: string, content: string) => string

/** One line each, as servers write them; `content` is JSON text. */
const DIALECTS: Record<string, Dialect> = {
  usual: (id, content) =>
    `data: {"id":"${id}","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":${content}},"logprobs":null,"finish_reason":null}],"usage":null}`,
  spaced: (id, content) =>
    `data: { "choices": [ { "delta": { "role": "assistant", "content": ${content} }, "finish_reason": null, "index": 0 } ], "id": "${id}" }`,
  'with content last': (id, content) =>
    `data:{"model":"content","choices":[{"finish_reason":null,"index":0,"delta":{"reasoning_content":"","content":${content}}}],"id":"${id}","content":"outside"}`,
}

/** What tries to be taken for text: quotes, escapes, ends of objects, and pieces of the lines themselves. */
const HOSTILE = [
  ...['a', ' the', '"', '\\', '\\"', '\n', '\r', '\t', '\0', '\u001f', '\u2028', '\u2029', '\ufeff', '😀', '\ud83d'],
  ...['}', ']}', '"}', '","', ',', ':', 'data: ', '[DONE]', 'content', 'assistant', 'x', 'null', '"content":"', '{"'],
  ...['"},"finish_reason":"stop"}]}', '"},"logprobs":null,"finish_reason":null}],"usage":null}', '\\u0041', 'outside'],
]

/** A die that shows the same numbers in every run: from 0 to `sides - 1`. */
function dice(seed: number): (sides: number) => number {
  const { between } = seededRandom(seed)
  return (sides) => between(0, sides - 1)
}

const readAsJson = (line: string) => JSON.parse(line.slice('data:'.length)).choices[0].delta.content as string

const failed = () => new EngineFailure('server', 'the upstream says so')

test.each(Object.entries(DIALECTS))('100,000 hostile lines, %s, are read as JSON.parse reads them', (_, dialect) => {
  const roll = dice(7)
  const pick = () => HOSTILE[roll(HOSTILE.length)]!
  const textOf = () => Array.from({ length: 1 + roll(3) }, () => (roll(3) ? HOSTILE[roll(2)]! : pick())).join('')
  let matched = 0
  for (let round = 0; round < 1_000; round++) {
    const pattern = createLinePattern()
    const first = roll(4) ? 'id' : textOf().replace(/["\\\p{Cc}]/gu, '')
    for (let line = 0; line < 100; line++) {
      const text = textOf()
      // Raw text between the quotes is no JSON as soon as it holds one of what has to be escaped.
      const content = roll(3) ? JSON.stringify(text) : `"${text}"`
      const sent = dialect(roll(20) ? first : text.replace(/["\\\p{Cc}]/gu, ''), content)
      const padded = roll(10) ? sent : `${sent}${pick()}`
      const found = pattern.match(`before\n${padded}\nafter`, 7, 7 + padded.length)
      const alone = pattern.alone(`${padded}${roll(2) ? '\n\n' : '\r\n'}`)
      if (alone !== found && !/[\r\n]$/.test(padded)) expect({ padded, alone }).toEqual({ padded, alone: found })
      if (found !== null) {
        matched += 1
        if (readAsJson(padded) !== found) expect({ padded, found }).toBe(readAsJson(padded) as never)
      } else if (isJson(padded) && !roll(4)) pattern.learn(padded, readAsJson(padded))
    }
  }
  expect(matched).toBeGreaterThan(10_000)
})

function isJson(line: string): boolean {
  try {
    return typeof readAsJson(line) === 'string'
  } catch {
    return false
  }
}

test.each(Object.entries(DIALECTS))('a stream of %s lines says the same however it is cut', (_, dialect) => {
  const roll = dice(11)
  const texts = Array.from({ length: 400 }, () => HOSTILE[roll(HOSTILE.length)]!)
  const lines = texts.map((text) => `${dialect('id', JSON.stringify(text))}${roll(2) ? '\n\n' : '\r\n'}`).join('')
  const reader = createStreamReader(failed)
  let read = ''
  for (let from = 0; from < lines.length; ) {
    const to = from + 1 + roll(roll(2) ? 7 : 900)
    for (const part of reader.read(lines.slice(from, to))) if (part.type === 'text') read += part.text
    from = to
  }
  expect(read).toBe(texts.join(''))
})

test.each(Object.entries(DIALECTS))(
  'a stream of %s lines says the same in a read for each line or byte',
  (_, dialect) => {
    const lines = [...HOSTILE, ...HOSTILE].map((text) => dialect('id', JSON.stringify(text)))
    for (const end of ['\n', '\r\n', '\n\n', '\r\n\r\n']) {
      const sent = lines.map((line) => line + end)
      // The end of a line may come with the next one, or in two reads.
      const late = sent.map((line, at) => (at ? sent[at - 1]!.slice(-1) : '') + line.slice(0, -1))
      for (const pieces of [sent, [...late, '\n'], [...sent.join('')]]) {
        const reader = createStreamReader(failed)
        const parts = pieces.flatMap((piece) => reader.read(piece))
        expect(parts.map((part) => (part.type === 'text' ? part.text : 'other')).join('')).toBe(
          [...HOSTILE, ...HOSTILE].join(''),
        )
      }
    }
  },
)

test('a line is no text where it says anything else', () => {
  const reader = createStreamReader(failed)
  const line = (content: string, more = '', finish = 'null') =>
    `data: {"choices":[{"delta":{"content":"${content}"${more}},"finish_reason":${finish}}]}\n\n`
  reader.read(line('one', ',"reasoning_content":"thought"'))
  expect(reader.read(line('two', ',"reasoning_content":"thought"'))).toEqual([
    { type: 'reasoning', text: 'thought' },
    { type: 'text', text: 'two' },
  ])
  reader.read(line('three') + line('four'))
  expect(reader.isFinished).toBe(false)
  expect(reader.read(line('five', '', '"stop"'))).toEqual([{ type: 'text', text: 'five' }])
  expect(reader.isFinished).toBe(true)
})
