// SQLite only: a client of routes that tests of their rooms call on both.
import { expect, test } from 'bun:test'
import { cliOver } from '../support/cli'
import { fakeIo } from '../support/io'
import { createWorld, type Person } from '../support/world'

const world = await createWorld()
const run = cliOver(world)
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
  const { exitCode } = await apply(who, [guardrails('New', { is_default: true })], '--prune', '--yes')
  expect(exitCode).toBe(0)
  const [only] = await stored(who)
  expect(only).toMatchObject({ name: 'New', is_default: true })
  const again = await apply(who, [only], '--dry-run', '--exit-code')
  expect({ exitCode: again.exitCode, stdout: JSON.parse(again.stdout) }).toMatchObject({
    exitCode: 0,
    stdout: [{ action: 'keep' }],
  })
})
