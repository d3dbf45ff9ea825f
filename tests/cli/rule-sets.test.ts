// SQLite only: a client of routes that tests of their modules call on both.
import { expect, test } from 'bun:test'
import { cliOver } from '../support/cli'
import { fakeIo } from '../support/io'
import { createWorld } from '../support/world'

const world = await createWorld()
const run = cliOver(world)
const as = { key: (await world.person()).key }
const fed = (body: object) => ({ ...as, io: fakeIo({ stdin: JSON.stringify(body) }) })
const policy = { name: 'Sea', rules: [{ guardrail_id: 'pii', phase: 'input', verdict: 'redact' }], is_default: true }
const preference = { name: 'Zoo', rules: [{ pattern: 'kappa', target_mode: 'code', confidence: 0.7 }] }

test('an update that changes nothing is no change to --dry-run --exit-code, and one that does names the fields', async () => {
  await run('guardrails create -f -', fed(policy))
  const stored = JSON.parse((await run('guardrails get Sea --json', as)).stdout)
  const dry = (body: object) => run('guardrails update Sea -f - --dry-run --exit-code', fed(body))
  for (const same of [policy, stored, { rules: policy.rules }]) expect((await dry(same)).exitCode).toBe(0)
  const { exitCode, stderr } = await dry({ rules: [], is_default: true })
  expect(exitCode).toBe(10)
  expect(stderr).toContain('change rules of guardrail policy Sea')
})

test('a rule below the floor of its mode is warned of', async () => {
  const made = await run('routing create -f -', fed(preference))
  expect(made.stderr).toContain('Warning: "rules[0]" has confidence 0.7, below the floor of 0.85')
  const changed = await run('routing update Zoo -f -', fed({ description: 'x' }))
  expect(changed.stderr).toContain('below the floor of 0.85')
  const dry = ['routing', 'update', 'Zoo', '-f', '-', '--dry-run', '--exit-code']
  expect((await run(dry, fed({ confidence_floor_overrides: { code: 0.7 } }))).exitCode).toBe(10)
})

test('unsetting a non-default or setting a default changes nothing and reports that', async () => {
  const unset = await run('routing unset-default Zoo', as)
  expect(unset.stderr).toContain('Zoo is not a default')
  expect(unset.stderr).not.toContain('Restore it')
  const set = await run('guardrails set-default Sea --json', as)
  const { id, before } = JSON.parse(set.stdout)
  expect(before).toEqual(id)
  expect(set.stderr).toContain('is already the default')
  expect((await run('guardrails set-default Sea --dry-run --exit-code', as)).exitCode).toBe(0)
})

test('a word that is none’s is named, and two ways to say a prompt are refused as that', async () => {
  const none = await run('guardrails get nope', as)
  expect(none).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('has the id or name "nope"') })
  const both = await run('routing test --prompt a -f f.jsonl', as)
  expect(both).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('not both') })
})
