// SQLite only: a client of routes that tests of their modules call on both.
import { expect, test } from 'bun:test'
import { cliOver } from '../support/cli'
import { fakeIo } from '../support/io'
import { createWorld } from '../support/world'

const NAME = '\u001b[31mred\u001b]52;c;aGFjaw==\u0007\u202egnp.exe\u009b2J\u2066'
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come out
const ACTIVE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

const world = await createWorld()
const run = cliOver(world)
const eve = await world.person({ ofOrg: true })
const { store, orgs } = world.app.container
const { body } = await eve.send('POST', 'keys', { name: NAME })

/** Every command that prints what a tenant chose, in every format. */
const LINES = [
  ['keys', 'list'],
  ['keys', 'list', '-o', 'wide'],
  ['keys', 'list', '-o', 'csv'],
  ['keys', 'list', '-o', 'yaml'],
  ['keys', 'list', '--json'],
  ['keys', 'get', body.id],
  ['keys', 'revoke', body.id, '-y', '--reason', 'x'],
]

test.each(LINES)('a key named to steer a terminal is harmless in %s %s %s %s', async (...line) => {
  const { stdout, stderr } = await run(line, { io: fakeIo({ width: 200 }), env: { NO_COLOR: '1' } })
  expect(stdout).not.toBe('')
  expect(stdout).not.toMatch(ACTIVE)
  expect(stderr).not.toMatch(ACTIVE)
})

test('an answer cannot steer a terminal either, whole or streamed', async () => {
  for (const more of [[], ['--stream'], ['--json']]) {
    const { stdout, stderr } = await run(['try', `Repeat: "${NAME}"`, ...more], { key: eve.key })
    expect(stdout).not.toMatch(ACTIVE)
    expect(stderr).not.toMatch(ACTIVE)
  }
})

test('an owner named so is harmless in a balance and in a refusal', async () => {
  const operator = { type: 'operator', role: 'admin', name: 'x', transport: 'local', reason: null } as const
  const call = { caller: operator, requestId: 'req_x', route: 'TEST /', signal: new AbortController().signal }
  await store.write((tx) => orgs.createOrg(tx, call, eve.userId, { name: NAME, slug: 'hostile' }))
  const found = await run('credits balance hostile')
  const missing = await run(['credits', 'balance', NAME.slice(1)])
  expect(found.stdout).toContain('red')
  for (const text of [found.stdout, missing.stderr]) expect(text).not.toMatch(ACTIVE)
  expect(missing.exitCode).toBe(3)
})
