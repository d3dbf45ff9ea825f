import { describe, expect, test } from 'bun:test'
import { codeArtifacts } from '../../src/completions/end'
import { eventNames, readFrames } from '../support/frames'
import { createUpstreamWorld, freshPrompt } from './upstream-world'

const { world } = await createUpstreamWorld()
const ada = await world.person()

const made = (text: string) =>
  codeArtifacts(text, { model: { id: 'svc-1-code', label: 'Svc Code', engine: 'svc-core' }, createdAt: 0 })
const inBrief = (text: string) => made(text).map(({ filename, language, content }) => ({ filename, language, content }))

describe('the code of an answer (docs/api.md 2.3)', () => {
  test('is an artifact with every member there is', () => {
    expect(made('Here:\n```python\nprint("é")\n```\nDone.')).toEqual([
      {
        id: expect.stringMatching(/^art_/) as never,
        type: 'code',
        title: null,
        filename: 'code-1.py',
        mime_type: 'text/x-python',
        url: null,
        url_expires_at: null,
        size_bytes: 11,
        content: 'print("é")',
        language: 'python',
        format: null,
        width: null,
        height: null,
        duration_seconds: null,
        engine: 'svc-core',
        model: 'svc-1-code',
        prompt: null,
        created: '1970-01-01T00:00:00.000Z',
      },
    ])
  })

  test.each([
    ['no fence', 'const a = 1', []],
    ['a short name', '```ts\nlet a\n```', [{ filename: 'code-1.ts', language: 'typescript', content: 'let a' }]],
    ['no name', '```\nls\n```', [{ filename: 'code-1.txt', language: null, content: 'ls' }]],
    ['a name nobody knows', '~~~Brainf\n+\n~~~', [{ filename: 'code-1.txt', language: 'brainf', content: '+' }]],
    ['a hostile name', '```../../etc\n+\n```', [{ filename: 'code-1.txt', language: null, content: '+' }]],
    [
      'the name of a member of every object',
      '```constructor\n+\n```',
      [{ filename: 'code-1.txt', language: 'constructor', content: '+' }],
    ],
    [
      'a longer fence around one',
      '````md\n```js\n1\n```\n````',
      [{ filename: 'code-1.md', language: 'markdown', content: '```js\n1\n```' }],
    ],
    ['nothing inside', '```js\n\n```', []],
    ['a fence that stays open', '```js\n1\n', []],
    [
      'two',
      '```js\n1\n```\nand\n```sql\n2\n```',
      [
        { filename: 'code-1.js', language: 'javascript', content: '1' },
        { filename: 'code-2.sql', language: 'sql', content: '2' },
      ],
    ],
  ])('from a text with %s', (_what, text, expected) => {
    expect(inBrief(text)).toEqual(expected)
  })

  test('is looked for in one pass, and not without end', () => {
    expect(made('```js\n1\n```\n'.repeat(500))).toHaveLength(20)
    expect(made('`'.repeat(1_000_000))).toEqual([])
    expect(made('```js\n'.repeat(200_000))).toEqual([])
  })
})

const TEXT = '[[say:Look:\n```js\nlet a = 1\n```\n]]'

test('comes as an event of its own before the end of a stream, and stands in its end', async () => {
  const reply = await ada.send('POST', 'completions', { prompt: freshPrompt(TEXT), mode: 'code', stream: true })
  const frames = readFrames(reply.text)
  expect(eventNames(frames).slice(-2)).toEqual(['artifact', 'done'])
  const artifact = frames.at(-2)!.data
  expect(artifact).toMatchObject({ type: 'code', content: 'let a = 1', language: 'javascript', filename: 'code-1.js' })
  expect(frames.at(-1)!.data.artifacts).toEqual([artifact])
})

test('stands in a whole answer, in its conversation, and in the answer of a chat client', async () => {
  const { body } = await ada.send('POST', 'completions', { prompt: freshPrompt(TEXT), mode: 'code' })
  expect(body.artifacts).toHaveLength(1)
  const stored = await ada.send('GET', `conversations/${body.conversation_id}`)
  const [{ url, url_expires_at: until, ...file }] = body.artifacts
  expect(stored.body.conversation.messages.at(-1).artifacts).toMatchObject([file])
  expect(until).toBeString()
  expect(await linked(url)).toBe('let a = 1')
  const compat = { prompt: freshPrompt(TEXT), mode: 'code', format: 'compat' }
  const { body: chat } = await ada.send('POST', 'completions', compat)
  expect(chat.svc_metadata.artifacts).toMatchObject([{ type: 'code', content: 'let a = 1' }])
})

const linked = async (url: string) => (await world.download(url)).text()

const PROJECT = '[[say:Two:\n```js a.js\nlet a = 1\n```\nand\n```js b.js\nlet b = 2\n```\n]]'

test('of a project is one archive besides its files; a cached answer has links that work', async () => {
  const input = { prompt: freshPrompt(PROJECT), mode: 'code' }
  const { body } = await ada.send('POST', 'completions', input)
  expect(body.artifacts.map(({ filename, type }: { filename: string; type: string }) => [filename, type])).toEqual([
    ['a.js', 'code'],
    ['b.js', 'code'],
    ['project.zip', 'file'],
  ])
  expect((await linked(body.artifacts[2].url)).slice(0, 2)).toBe('PK')
  await ada.send('DELETE', `artifacts/${body.artifacts[1].id}`)
  const again = (await ada.send('POST', 'completions', input)).body
  expect(again).toMatchObject({ _cached: true, usage: { cost_cents: 0 } })
  expect(await linked(again.artifacts[0].url)).toBe('let a = 1')
  expect(again.artifacts[1]).toMatchObject({ content: 'let b = 2', url: null })
})

test('has no link where its owner keeps as much as it may, and is answered all the same', async () => {
  const eve = await (await createUpstreamWorld({ config: { filesOwnerCount: 1 } })).world.person()
  const { status, body } = await eve.send('POST', 'completions', { prompt: freshPrompt(PROJECT), mode: 'code' })
  expect(status).toBe(200)
  const links = body.artifacts.map(({ url, content }: { url: string | null; content: string }) => [
    url !== null,
    content,
  ])
  expect(links).toEqual([
    [true, 'let a = 1'],
    [false, 'let b = 2'],
  ])
})

test('is none outside of mode code', async () => {
  const { body } = await ada.send('POST', 'completions', { prompt: freshPrompt(TEXT), mode: 'fast' })
  expect(body.artifacts).toEqual([])
})
