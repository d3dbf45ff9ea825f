// SQLite only: a client of routes that tests of their modules call on both.
import { describe, expect, test } from 'bun:test'
import { cliOver } from '../support/cli'
import { fakeIo } from '../support/io'
import { createWorld } from '../support/world'

const world = await createWorld()
const run = cliOver(world)
const ada = await world.person()
const as = { key: ada.key }
const rule = { pattern: 'zebra', target_mode: 'roast', target_engine: 'svc-1-code' }
const notify = (stdin: string) => ({ ...as, io: fakeIo({ stdin }) })
const { json } = cliOver(world, as)

const preference = await json('routing create -f -', notify(JSON.stringify({ name: 'Zoo', rules: [rule] })))

describe('routing', () => {
  test('create says how to bind, and keys bind does', async () => {
    const { stderr, exitCode } = await run('routing create -f -', notify('{"name":"Empty"}'))
    expect(exitCode).toBe(0)
    expect(stderr).toContain('svc-admin keys bind KEY --routing')
    const bound = await json(`keys bind ${ada.keyId} --routing ${preference.id}`)
    expect(bound.routing_preference_id).toBe(preference.id)
    expect((await json(`keys bind ${ada.keyId} --routing none`)).routing_preference_id).toBeNull()
  })

  test('keys bind takes rules from a file, and none', async () => {
    const line = ['keys', 'bind', ada.keyId, '--rules', '-']
    expect((await json(line, notify(JSON.stringify([rule])))).routing_rules).toHaveLength(1)
    expect((await json(`keys bind ${ada.keyId} --rules none`)).routing_rules).toEqual([])
  })

  test('list, get and update', async () => {
    expect((await run('routing list', as)).stdout).toContain('Zoo')
    const patch = '{"description":"of animals"}'
    expect((await json(`routing update ${preference.id} -f -`, notify(patch))).description).toBe('of animals')
    expect((await json(`routing get ${preference.id}`)).description).toBe('of animals')
  })

  test('preview says what would become of a prompt', async () => {
    const found = await json(['routing', 'preview', 'a zebra', '--pref', preference.id])
    expect(found).toMatchObject({ resolved_mode: 'roast', source: 'rule', engine: 'svc-1-code' })
    const tried = await json(['routing', 'preview', 'a zebra', '--rules', '-'], notify(JSON.stringify([rule])))
    expect(tried.source).toBe('rule')
  })

  test('preview shows stage by stage, in a pipe as well', async () => {
    const { stdout } = await run(['routing', 'preview', 'a zebra', '--pref', preference.id], as)
    expect(stdout).toMatch(/^STAGE +MODE +CONFIDENCE/m)
    expect(stdout).toMatch(/^rule +roast/m)
    expect(stdout).not.toContain('{')
  })

  test.each([
    ['mode', { expected_mode: 'zz' }, 'zz'],
    ['mode that no prompt gets', { expected_mode: 'auto' }, 'auto'],
    ['engine', { expected_mode: 'fast', expected_engine: 'svc-9-none' }, 'svc-9-none'],
  ])('a case with a %s nobody knows is wrong usage and no miss', async (_, wanted, word) => {
    const line = JSON.stringify({ prompt: 'a zebra', ...wanted })
    const { exitCode, stderr } = await run('routing test -f -', notify(line))
    expect({ exitCode, stderr: stderr.includes(`"${word}"`) }).toEqual({ exitCode: 2, stderr: true })
  })

  test('delete says on how many keys it is, and asks', async () => {
    const { id } = await json('routing create -f -', notify('{"name":"Gone"}'))
    expect((await run(`routing delete ${id} --no-input`, as)).exitCode).toBe(2)
    expect(await json(`routing delete ${id} --yes`)).toEqual({ id, deleted: true })
    expect((await run(`routing get ${id}`, as)).exitCode).toBe(3)
  })
})

describe('routing test', () => {
  const hit = '{"prompt":"a zebra","expected_mode":"roast","expected_engine":"svc-1-code"}'
  const miss = '{"prompt":"a giraffe","expected_mode":"roast"}'
  const line = ['routing', 'test', '-f', '-', '--pref', preference.id]

  test('exits 0 when every case gets what it should', async () => {
    const { exitCode, stdout, stderr } = await run(line, notify(`# mine\n\n${hit}\n`))
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' })
    expect(stderr).toContain('1 of 1 cases as expected.')
  })

  test('prints the misses and exits 9 (docs/operating.md 2.5)', async () => {
    const { exitCode, stdout } = await run([...line, '--json'], notify(`${hit}\n${miss}`))
    expect(exitCode).toBe(9)
    const [row, ...rest] = JSON.parse(stdout)
    expect(rest).toEqual([])
    expect(row).toMatchObject({ line: 2, ok: false, expected_mode: 'roast', resolved_mode: 'fast' })
  })

  test('looks at the engine that is expected', async () => {
    const { exitCode, stdout } = await run([...line, '--json'], notify(hit.replace('svc-1-code', 'svc-1-flash')))
    expect(exitCode).toBe(9)
    expect(JSON.parse(stdout)[0]).toMatchObject({ expected_engine: 'svc-1-flash', engine: 'svc-1-code', ok: false })
  })

  test('of one prompt prints what decided, and under which floor (docs/operating.md 2.10)', async () => {
    const requests = ['routing', 'test', '--prompt', 'a zebra']
    expect(await json([...requests, '--pref', 'Zoo'])).toMatchObject({
      resolved_mode: 'roast',
      engine: 'svc-1-code',
      source: 'rule',
      matched: 'zebra',
      confidence: 0.9,
      floor: 0.85,
    })
    await json(`keys bind ${ada.keyId} --routing ${preference.id}`)
    expect((await json([...requests, '--key', ada.keyId])).source).toBe('rule')
    await json(`keys bind ${ada.keyId} --routing none`)
    expect((await json([...requests, '--key', ada.keyId])).source).not.toBe('rule')
    expect((await run('routing test', as)).exitCode).toBe(2)
    expect((await run([...requests, '-f', 'cases.jsonl'], as)).exitCode).toBe(2)
  })

  test.each([
    ['a line that is no case', '{"prompt":"x"}', 'Line 1'],
    ['a line that is no JSON', `${hit}\nzebra`, 'Line 2'],
    ['a file of nothing', '\n', 'no case'],
  ])('%s is wrong usage', async (_, stdin, words) => {
    const { exitCode, stderr } = await run(line, notify(stdin))
    expect(exitCode).toBe(2)
    expect(stderr).toContain(words)
  })
})

test('routing suggest adds its rule to a preference, and corrections are listed', async () => {
  for (const prompt of ['overdue invoices', 'invoices overdue', 'the overdue ones']) {
    await ada.send('POST', 'routing-corrections', { prompt, expected_mode: 'data_extraction' })
  }
  expect((await json('routing corrections --mode data_extraction')).length).toBe(3)
  await ada.send('POST', 'routing-corrections', { prompt: 'a haiku', expected_mode: 'think' })
  expect(await json('policies routing corrections list')).toMatchObject([
    { mode: 'data_extraction', corrections: 3, threshold: 3, ready: true },
    { mode: 'think', corrections: 1, threshold: 3, ready: false },
  ])
  expect((await json('routing suggest data_extraction')).confidence).toBe(0.88)
  expect((await json(`routing suggest data_extraction --apply ${preference.id}`)).rules).toHaveLength(2)
})
