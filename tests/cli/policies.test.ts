// SQLite only: a client of routes that tests of their modules call on both.
import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { cliOver } from '../support/cli'
import { fakeIo } from '../support/io'
import { createWorld, type Person } from '../support/world'

const world = await createWorld()
const run = cliOver(world)
const notify = (who: Person, stdin: string) => ({ key: who.key, io: fakeIo({ stdin }) })
const { json } = run

/** Someone in a session: a key that is under a default may not take it away. */
const someone = async () => world.signedIn(await world.person())

const ada = await someone()
const as = { key: ada.key }

const create = (resource: string, body: object, who = ada) =>
  json([resource, 'create', '-f', '-'], notify(who, JSON.stringify(body)))

describe('policies set-default', () => {
  test('takes it from the one before, and unset-default away', async () => {
    const first = await create('guardrails', { name: 'First', is_default: true })
    const second = await create('guardrails', { name: 'Second' })
    expect(await json(`policies set-default ${second.id}`, as)).toMatchObject({ is_default: true, before: first.id })
    expect((await json(`guardrails get ${first.id}`, as)).is_default).toBe(false)
    expect((await json('policies unset-default', as)).id).toBe(second.id)
    const again = await run('policies unset-default', as)
    expect({ exitCode: again.exitCode, stdout: again.stdout }).toEqual({ exitCode: 0, stdout: '' })
  })

  test('of routing is its own, by name as well', async () => {
    await create('routing', { name: 'Zoo' })
    expect(await json('routing set-default Zoo', as)).toMatchObject({
      object: 'routing_preference',
      is_default: true,
    })
    expect((await run('guardrails set-default Zoo', as)).exitCode).toBe(3)
    expect((await run('policies set-default nonsense', as)).exitCode).toBe(3)
    await json('policies set-default Second', as)
    expect((await run('policies unset-default', as)).exitCode).toBe(2)
    expect((await json('policies routing unset-default', as)).name).toBe('Zoo')
  })
})

/** What YAML may stumble over. */
const nasty = [
  'a: b # c',
  '\\b(?:no|yes)\\b',
  '---',
  '- x',
  ' lead',
  'trail ',
  '"q"',
  "it's",
  'y',
  '0x1',
  '{a}',
  '\u{1f980}',
]

describe('policies export and apply', () => {
  const grace = { ...as }
  const rules = [
    { guardrail_id: 'blocked_terms', phase: 'input', verdict: 'block', config: { terms: nasty } },
    { guardrail_id: 'pii', phase: 'output', verdict: 'redact' },
  ]
  const routed = {
    name: 'Desk',
    description: 'of: the # desk',
    is_default: true,
    rules: [{ pattern: 'x', target_mode: 'code' }],
    examples: [{ prompt: 'a: b', expected_mode: 'think' }],
    confidence_floor_overrides: { code: 0.2 },
  }
  const apply = (folder: string, ...more: string[]) =>
    run(['policies', 'apply', '-f', folder, ...more, '--json'], grace)

  test('what was exported changes nothing, and makes the same elsewhere', async () => {
    const [eve, folder] = [await world.person(), `${world.folder}/eve`]
    grace.key = eve.key
    await create('guardrails', { name: 'Sea', rules }, eve)
    await create('routing', routed, eve)
    const written = await json(`policies export --out ${folder}`, grace)
    expect(written).toMatchObject([{ name: 'Sea' }, { name: 'Desk', is_default: true }])
    expect(readdirSync(folder).sort()).toEqual(['guardrails-sea.yaml', 'routing-desk.yaml'])
    const same = await apply(folder, '--dry-run', '--exit-code')
    expect(same.exitCode).toBe(0)
    expect(JSON.parse(same.stdout).map(({ action }: { action: string }) => action)).toEqual(['keep', 'keep'])
    grace.key = (await world.person()).key
    expect((await apply(folder, '--dry-run', '--exit-code')).exitCode).toBe(10)
    expect((await run('guardrails list', grace)).stdout).toBe('')
    expect((await apply(folder)).exitCode).toBe(0)
    const { stdout } = await run('policies export', grace)
    expect(stdout).toBe((await run('policies export', { key: eve.key })).stdout)
    expect((await apply(folder, '--dry-run', '--exit-code')).exitCode).toBe(0)
  })

  test('a change is one, and what no file has stays unless it is pruned', async () => {
    const who = await someone()
    grace.key = who.key
    const [sea, other] = [await create('guardrails', { name: 'Sea', rules }, who), { name: 'Other', is_default: true }]
    await create('guardrails', other, who)
    const doc = { object: 'guardrail_policy', name: 'Sea', rules: rules.slice(0, 1), is_default: true }
    const fed = (...more: string[]) =>
      run(['policies', 'apply', '-f', '-', ...more, '--json'], notify(who, JSON.stringify(doc)))
    expect(JSON.parse((await fed()).stdout)).toMatchObject([
      { action: 'update', name: 'Other', fields: ['is_default'], file: null },
      { action: 'update', id: sea.id, fields: ['is_default', 'rules'] },
    ])
    expect(await json('guardrails get Other', grace)).toMatchObject({ is_default: false })
    expect((await fed('--prune', '--no-input')).exitCode).toBe(2)
    const pruned = JSON.parse((await fed('--prune', '--yes')).stdout)
    expect(pruned).toMatchObject([{ action: 'keep' }, { action: 'delete', name: 'Other' }])
    expect((await run('guardrails get Other', grace)).exitCode).toBe(3)
  })

  test('several of one name come back as they were, and one that is changed is told from its twin', async () => {
    const [who, folder] = [await someone(), `${world.folder}/twins`]
    grace.key = who.key
    await create('guardrails', { name: 'Twin', rules, is_default: true }, who)
    const second = await create('guardrails', { name: 'Twin', rules: rules.slice(1) }, who)
    await json(`policies export --out ${folder}`, grace)
    const same = await apply(folder, '--dry-run', '--exit-code')
    expect({ exitCode: same.exitCode, stdout: JSON.parse(same.stdout) }).toMatchObject({
      exitCode: 0,
      stdout: [{ action: 'keep' }, { action: 'keep' }],
    })
    const changed = { object: 'guardrail_policy', name: 'Twin', rules: [], description: 'changed' }
    await Bun.write(`${folder}/guardrails-twin.yaml`, JSON.stringify(changed))
    expect(JSON.parse((await apply(folder)).stdout)).toMatchObject([
      { action: 'keep' },
      { action: 'update', id: second.id, fields: ['description', 'rules'] },
    ])
    const pruned = await run('policies apply -f - --prune --yes --json', notify(who, JSON.stringify(changed)))
    expect(JSON.parse(pruned.stdout)).toMatchObject([{ action: 'keep' }, { action: 'delete', name: 'Twin' }])
  })

  test('several documents come out of one file, and back in from stdin', async () => {
    const [eve, who] = [await world.person(), await world.person()]
    for (const name of ['One', 'Two']) await create('guardrails', { name, rules }, eve)
    const { stdout } = await run('policies export', { key: eve.key })
    const file = `${world.folder}/all.yaml`
    await Bun.write(file, stdout)
    grace.key = who.key
    expect(JSON.parse((await apply(file)).stdout)).toMatchObject([{ action: 'create' }, { action: 'create' }])
  })

  test.each([
    ['no folder', '/nowhere/at/all', ''],
    ['what is no policy', '-', '{"name":"x"}'],
    ['the same one twice', '-', '[{"object":"guardrail_policy","name":"x"},{"object":"guardrail_policy","name":"x"}]'],
    ['no YAML and no JSON', '-', '{'],
  ])('%s is wrong usage', async (_, from, stdin) => {
    expect((await run(['policies', 'apply', '-f', from], notify(ada, stdin))).exitCode).toBe(2)
  })

  test('what the server refuses exits as it does', async () => {
    const doc = {
      object: 'guardrail_policy',
      name: 'x',
      rules: [{ guardrail_id: 'none', phase: 'input', verdict: 'block' }],
    }
    const { exitCode, stderr } = await run('policies apply -f -', notify(ada, JSON.stringify(doc)))
    expect(exitCode).toBe(2)
    expect(stderr).toContain('not a guardrail')
  })
})

describe('on the machine of the server', () => {
  test('policies of anyone are listed, made and deleted, with the keys they are on named', async () => {
    const who = await world.person()
    const line = ['guardrails', 'create', '-f', '-', '--org', who.userId]
    const made = await json(line, { io: fakeIo({ stdin: '{"name":"Theirs"}' }) })
    await who.send('PUT', `keys/${who.keyId}/guardrails`, { guardrail_policy_id: made.id })
    expect(await json(`policies guardrails list --org ${who.userId}`, {})).toMatchObject([{ name: 'Theirs' }])
    expect((await run('guardrails list --all', {})).stdout).toContain('Theirs')
    expect((await run('guardrails delete Theirs --dry-run', {})).stderr).toContain('bound to 1 key: ')
    expect((await run('guardrails delete Theirs --yes', {})).exitCode).toBe(0)
  })

  test('routing is tried for a key, and policies are exported and applied for an owner', async () => {
    const who = await world.person()
    const zebra = { pattern: 'zebra', target_mode: 'roast' }
    const { id } = (await who.send('POST', 'routing-preferences', { name: 'Zoo', rules: [zebra] })).body
    await who.send('PUT', `keys/${who.keyId}/routing-preference`, { routing_preference_id: id })
    const requests = ['routing', 'test', '--prompt', 'a zebra', '--key', who.keyId]
    expect((await json(requests, {})).source).toBe('rule')
    expect((await run([...requests, '--engine'], {})).exitCode).toBe(2)
    const io = fakeIo({ stdin: (await run(`policies export --org ${who.userId}`, {})).stdout })
    const again = await json(`policies apply -f - --org ${who.userId}`, { io })
    expect(again).toMatchObject([{ action: 'keep', name: 'Zoo' }])
  })
})

const apply = (who: Person, documents: object, ...more: string[]) =>
  run(['policies', 'apply', '-f', '-', '--json', ...more], {
    key: who.key,
    io: fakeIo({ stdin: JSON.stringify(documents) }),
  })

const stored = async (who: Person) => (await who.send('GET', 'guardrail-policies')).body.guardrail_policies
const guardrails = (name: string, more: object = {}) => ({ object: 'guardrail_policy', name, ...more })
const routing = (name: string, more: object = {}) => ({ object: 'routing_preference', name, ...more })
const wrongRules = [{ guardrail_id: 'zz', phase: 'input', verdict: 'block' }]

test.each([
  ['two defaults of one scope', [guardrails('One', { is_default: true }), guardrails('Two', { is_default: true })]],
  ['a rule that is wrong', [guardrails('Fine'), guardrails('Broken', { rules: wrongRules })]],
  ['a member nobody knows', [guardrails('Fine'), guardrails('Broken', { rulez: [] })]],
  ['a member of another type', [guardrails('Fine'), guardrails('Broken', { description: 7 })]],
  [
    'a mode nobody knows',
    [guardrails('Fine'), routing('Broken', { rules: [{ pattern: 'x', target_mode: 'nowhere' }] })],
  ],
])('%s is refused before anything is applied, and by --dry-run as well', async (_, documents) => {
  const who = await world.person()
  const { id } = (await who.send('POST', 'guardrail-policies', { name: 'Former', is_default: true })).body
  for (const more of [[], ['--dry-run', '--exit-code']]) {
    const { exitCode, stdout } = await apply(who, documents, ...more)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  }
  expect(await stored(who)).toMatchObject([{ id, is_default: true }])
})

test('every document that is wrong is named', async () => {
  const wrong = [guardrails('First', { rules: wrongRules }), guardrails('Second', { rules: wrongRules })]
  const { stderr } = await apply(await world.person(), wrong)
  expect(stderr).toContain('First')
  expect(stderr).toContain('Second')
  expect(JSON.parse(stderr).error.code).toBe('guardrail_policy_invalid')
})

/** Only the server tries what has to backtrack. */
const endless = { rules: [{ pattern: '(?=a)(a+)+b', target_mode: 'code' }] }

test('what the server still refuses stops the rest, and what was done before is printed', async () => {
  const who = await world.person()
  const { exitCode, stdout } = await apply(who, [guardrails('Fine'), routing('Endless', endless), guardrails('Late')])
  expect(exitCode).toBe(2)
  expect(JSON.parse(stdout)).toMatchObject([{ action: 'create', name: 'Fine' }])
  expect(await stored(who)).toMatchObject([{ name: 'Fine' }])
})

test('a default is one again when what should have taken its place is refused', async () => {
  const who = await world.person()
  await who.send('POST', 'routing-preferences', { name: 'Former', is_default: true })
  const { exitCode, stdout } = await apply(who, [routing('Endless', { ...endless, is_default: true })])
  expect({ exitCode, stdout: JSON.parse(stdout) }).toEqual({ exitCode: 2, stdout: [] })
  const { routing_preferences } = (await who.send('GET', 'routing-preferences')).body
  expect(routing_preferences).toMatchObject([{ name: 'Former', is_default: true }])
})

test('a default passes from one file to another, whatever their order', async () => {
  const who = await world.signedIn(await world.person())
  const both = (first: boolean) => [
    guardrails('One', { is_default: first, description: String(first) }),
    guardrails('Two', { is_default: !first }),
  ]
  for (const first of [true, false, true]) {
    expect((await apply(who, both(first))).exitCode).toBe(0)
    expect((await apply(who, both(first), '--dry-run', '--exit-code')).exitCode).toBe(0)
  }
})

test('a default that is pruned makes room first, and what a server says of one is no change', async () => {
  const who = await world.signedIn(await world.person())
  await who.send('POST', 'guardrail-policies', { name: 'Former', is_default: true })
  expect((await apply(who, [guardrails('New', { is_default: true })], '--prune', '--yes')).exitCode).toBe(0)
  const [only] = await stored(who)
  expect(only).toMatchObject({ name: 'New', is_default: true })
  const again = await apply(who, [only], '--dry-run', '--exit-code')
  expect({ exitCode: again.exitCode, stdout: JSON.parse(again.stdout) }).toMatchObject({
    exitCode: 0,
    stdout: [{ action: 'keep' }],
  })
})
