// SQLite only: a client of routes that tests of their modules call on both.
import { describe, expect, test } from 'bun:test'
import { cliOver } from '../support/cli'
import { fakeIo } from '../support/io'
import { createWorld } from '../support/world'

const world = await createWorld()
const run = cliOver(world)
const ada = await world.person()
const as = { key: ada.key }
/** Another of hers: one that is under a policy may not take it off itself. */
const beside = (await ada.send('POST', 'keys', {})).body.id
const notify = (stdin: string) => ({ ...as, io: fakeIo({ stdin }) })
const { json } = cliOver(world, as)

const rules = [
  { guardrail_id: 'blocked_terms', phase: 'input', verdict: 'block', config: { terms: ['kraken'] } },
  { guardrail_id: 'blocked_terms', phase: 'output', verdict: 'redact', config: { terms: ['kraken'] } },
]
const yaml = `name: Sea, safe
rules:
  - guardrail_id: blocked_terms
    phase: input
    verdict: block
    config: { terms: [kraken] }
`
const policy = await json('guardrails create -f -', notify(JSON.stringify({ name: 'Sea', rules })))

describe('guardrails', () => {
  test('create says how to bind, and keys bind does', async () => {
    const { stderr, exitCode } = await run('guardrails create -f -', notify('{"name":"Empty"}'))
    expect(exitCode).toBe(0)
    expect(stderr).toContain('svc-admin keys bind KEY --guardrails')
    expect((await json(['keys', 'bind', beside, '--guardrails', policy.id])).guardrail_policy_id).toBe(policy.id)
    expect((await json(['keys', 'bind', beside, '--guardrails', 'none'])).guardrail_policy_id).toBeNull()
  })

  test('list, get and update, also as policies guardrails', async () => {
    expect((await run('policies guardrails list', as)).stdout).toContain('Sea')
    const patch = '{"description":"of monsters"}'
    expect((await json(`guardrails update ${policy.id} -f -`, notify(patch))).description).toBe('of monsters')
    expect((await json(`guardrails get ${policy.id}`)).rules).toEqual(rules)
  })

  test('what the API refuses is told, and exits 2 or 3', async () => {
    const wrong = await run('guardrails create -f -', notify('{"name":"OpenAI guard"}'))
    expect(wrong.stderr).toContain('names an upstream vendor')
    expect(wrong.exitCode).not.toBe(0)
    expect((await run('guardrails get nonsense', as)).exitCode).toBe(3)
    for (const blank of ['', ' ']) expect((await run(['guardrails', 'get', blank], as)).exitCode).toBe(2)
  })

  test('builtins have phases and verdicts', async () => {
    const { stdout } = await run('guardrails builtins', as)
    expect(stdout).toContain('blocked_terms')
    expect(stdout).toContain('redact')
  })

  test('evaluate shows every phase there are rules for', async () => {
    expect(await json(['guardrails', 'evaluate', policy.id, 'The kraken'])).toMatchObject([
      { phase: 'input', verdict: 'block', triggered: true },
      { phase: 'output', verdict: 'redact', triggered: true, text: 'The [REDACTED:blocked_term]' },
    ])
    const one = await json(`guardrails evaluate ${policy.id} -f - --phase input`, notify('A whale'))
    expect(one).toMatchObject([{ triggered: false }])
    expect((await run(`guardrails evaluate ${policy.id}`, as)).exitCode).toBe(2)
  })

  test('test exits 9 where a text does not get what it should', async () => {
    const corpus = [
      '# of the sea',
      '{"text":"the kraken","expected":"block"}',
      '{"text":"a whale","expected":"pass"}',
      '{"text":"the kraken","phase":"output","expected":"redact"}',
    ]
    const line = ['guardrails', 'test', policy.id, '--corpus', '-']
    const right = await run(line, notify(corpus.join('\n')))
    expect(right.exitCode).toBe(0)
    expect(right.stderr).toContain('3 of 3 texts as expected')
    const wrong = await run(line, notify([...corpus, '{"text":"a whale","expected":"block"}'].join('\n')))
    expect(wrong.exitCode).toBe(9)
    expect(wrong.stdout).toContain('a whale')
    expect((await run(line, notify('{"text":"a"}'))).exitCode).toBe(2)
    expect((await run(line, notify('\n'))).exitCode).toBe(2)
  })

  test('test shows what every rule says of a text, however it comes', async () => {
    const line = ['guardrails', 'test', policy.id]
    const messages = [
      { phase: 'input', guardrail_id: 'blocked_terms', verdict: 'block', triggered: true },
      { phase: 'output', verdict: 'redact', triggered: true },
    ]
    expect(await json([...line, '--text', 'The kraken'])).toMatchObject(messages)
    expect(await json(line, notify('The kraken'))).toMatchObject(messages)
    const file = `${world.folder}/text.txt`
    await Bun.write(file, 'The kraken')
    expect(await json([...line, '-f', file])).toMatchObject(messages)
    expect(await json([...line, '--text', `@${file}`, '--phase', 'output'])).toHaveLength(1)
    expect((await run([...line, '--text', 'x', '-f', file], as)).exitCode).toBe(2)
  })

  test('a name, or a beginning of an id, means a policy', async () => {
    expect((await json('guardrails get Sea')).id).toBe(policy.id)
    expect((await json(['guardrails', 'get', policy.id.slice(0, 13)])).id).toBe(policy.id)
    await run('guardrails create -f -', notify('{"name":"Twin"}'))
    await run('guardrails create -f -', notify('{"name":"Twin"}'))
    const { exitCode, stderr } = await run('guardrails get Twin', as)
    expect(exitCode).toBe(2)
    expect(stderr).toContain('could be 2 of them')
  })

  test('diff shows what a file would change', async () => {
    const line = ['guardrails', 'diff', policy.id, '-f', '-']
    expect(await json(line, notify(JSON.stringify({ rules })))).toEqual([])
    expect(await json(line, notify(JSON.stringify({ rules: [rules[1], rules[1], rules[0]] })))).toMatchObject([
      { rule: 1, change: 'changed' },
      { rule: 3, change: 'added', before: null },
    ])
  })

  test('a file may be YAML', async () => {
    const file = `${world.folder}/policy.yaml`
    await Bun.write(file, yaml)
    expect((await json(`guardrails create -f ${file}`)).rules).toEqual([rules[0]])
  })

  test('delete says on how many keys it is', async () => {
    const made = await json('guardrails create -f -', notify('{"name":"Gone soon"}'))
    await run(['keys', 'bind', beside, '--guardrails', made.id], as)
    const { name } = await json(['keys', 'get', beside])
    const request = await run(`guardrails delete ${made.id} --dry-run`, as)
    expect(request.stdout + request.stderr).toContain(`bound to 1 key: ${name}`)
    expect((await json(`guardrails delete ${made.id} --yes`)).deleted).toBe(true)
  })
})
