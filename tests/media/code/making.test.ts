import { describe, expect, test } from 'bun:test'
import { strFromU8, unzipSync } from 'fflate'
import { createUpstreamWorld } from '../../completions/upstream-world'
import { pathOf } from '../../files/support'
import { onTerms, under } from '../../guardrails/support'
import { createWorld } from '../../support/world'

const PROJECT = [
  'A server of two files.',
  '```ts src/index.ts\nexport const port: number = 3000\n```',
  '```json package.json\n{"name": "x",}\n```',
  'Run it.',
].join('\n\n')

const { world, upstream } = await createUpstreamWorld({
  upstream: { text: ({ messages }) => (JSON.stringify(messages).includes('PROJECT') ? PROJECT : undefined) },
})

describe('POST /code (docs/api.md 6)', () => {
  test('keeps each file with its text, the project as one archive, and says what does not parse', async () => {
    const ada = await world.person({ cents: 100 })
    const input = { prompt: 'PROJECT please', language: 'TypeScript', framework: 'Elysia' }
    const { status, body } = await ada.send('POST', 'code', input)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id: expect.stringMatching(/^code_[0-9A-Za-z]{24}$/),
      object: 'code',
      content: PROJECT,
      tools_used: [{ name: 'syntax_check', status: 'error' }],
      checks: [
        { filename: 'src/index.ts', language: 'typescript', status: 'ok', message: null, line: null },
        { filename: 'package.json', language: 'json', status: 'error', line: null },
      ],
    })
    expect(body.usage.cost_cents).toBeGreaterThan(0)
    expect(body.usage.total_tokens).toBe(body.usage.prompt_tokens + body.usage.completion_tokens)
    const [file, , zip] = body.artifacts
    expect(file).toMatchObject({
      type: 'code',
      title: 'src/index.ts',
      filename: 'index.ts',
      language: 'typescript',
      content: 'export const port: number = 3000',
      model: 'svc-1-code',
    })
    const read = await ada.send('GET', `artifacts/${file.id}`)
    expect((await world.send('GET', pathOf(read.body.url))).text).toBe(file.content)
    expect(zip).toMatchObject({ type: 'file', filename: 'project.zip', mime_type: 'application/zip', content: null })
    const files = unzipSync(new Uint8Array(await (await world.download(zip.url)).arrayBuffer()))
    expect(Object.keys(files)).toEqual(['src/index.ts', 'package.json'])
    expect(strFromU8(files['package.json']!)).toBe('{"name": "x",}\n')
    const sent = upstream.calls.at(-1)!.body.messages as { role: string; content: string }[]
    expect(sent.at(-1)!.content).toBe('PROJECT please\n\nLanguage: TypeScript\nFramework: Elysia')
  })

  test('of one file there is no archive, of no file nothing', async () => {
    const ada = await world.person({ cents: 100 })
    const one = await ada.send('POST', 'code', { prompt: '[[say:```py a.py\nx\n```]]' })
    expect(one.body.artifacts.map(({ filename }: { filename: string }) => filename)).toEqual(['a.py'])
    expect(one.body.tools_used).toEqual([])
    const none = await ada.send('POST', 'code', { prompt: '[[say:Only words.]]' })
    expect(none.body).toMatchObject({ content: 'Only words.', artifacts: [], checks: [] })
  })

  test.each([
    [{}, 'missing_prompt'],
    [{ prompt: '  ' }, 'missing_prompt'],
    [{ prompt: 'a', language: 7 }, 'validation_error'],
    [{ prompt: 'a', framework: 'x'.repeat(65) }, 'validation_error'],
  ])('refuses %j', async (input, code) => {
    const { status, body } = await (await world.person()).send('POST', 'code', input)
    expect({ status, code: body.error.code }).toEqual({ status: 400, code })
  })

  test('the policy reads every field, and what it hides is in no file', async () => {
    const ada = await world.person({ cents: 100 })
    await under(ada, [onTerms('input', 'block', ['zebra']), onTerms('output', 'redact', ['hunter2'])])
    const refused = await ada.send('POST', 'code', { prompt: 'x', framework: 'zebra' })
    expect(refused).toMatchObject({ body: { error: { code: 'guardrail_blocked', param: 'framework' } } })
    const made = await ada.send('POST', 'code', { prompt: '[[say:```py a.py\nkey = "hunter2"\n```]]' })
    const [file] = made.body.artifacts
    for (const text of [made.body.content, file.content, (await world.send('GET', pathOf(file.url))).text]) {
      expect(text).toContain('[REDACTED')
      expect(text).not.toContain('hunter2')
    }
  })

  test('a failure charges nothing', async () => {
    const ada = await world.person({ cents: 100 })
    expect((await ada.send('POST', 'code', { prompt: 'x [[500]]' })).body.error.code).toBe('engine_unavailable')
    const { billing } = world.app.container
    expect(await billing.balance(world.app.store.read, `user:${ada.userId}`)).toMatchObject({ held: 0 })
    expect((await ada.send('GET', 'audit')).body[0]).toMatchObject({ action: 'code.failed' })
  })
})

test('without a language model it is an outline that says so, free of charge', async () => {
  const ada = await (await createWorld()).person({ cents: 1 })
  const { body } = await ada.send('POST', 'code', { prompt: 'A function called parse_row', language: 'typescript' })
  expect(body.content).toContain('no language model')
  expect(body.artifacts[0]).toMatchObject({ language: 'typescript', filename: 'code-1.ts' })
  expect(body.checks[0]).toMatchObject({ status: 'ok' })
  expect(body.usage.cost_cents).toBe(0)
})

test('mode code of a completion names its files and says what does not parse', async () => {
  const ada = await world.person({ cents: 100 })
  const { body } = await ada.send('POST', 'completions', { prompt: 'PROJECT again', mode: 'code' })
  const named = body.artifacts.map(({ title, filename }: { title: string; filename: string }) => title ?? filename)
  expect(named).toEqual(['src/index.ts', 'package.json', 'project.zip'])
  expect(body.warnings).toEqual([expect.stringContaining('package.json does not parse')])
})
