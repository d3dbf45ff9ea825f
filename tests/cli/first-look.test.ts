// SQLite only: a client of routes that tests of their modules call on both.
import { expect, test } from 'bun:test'
import { loadConfig } from '../../src/app/config'
import { openApp } from '../../src/app/open'
import { systemClock } from '../../src/kernel/clock'
import { cliOver } from '../support/cli'
import { fakeIo } from '../support/io'
import { createWorld } from '../support/world'

/** What an operator met in the first hour and stumbled over. */
const world = await createWorld()
const run = cliOver(world)
const ada = await world.person({ ofOrg: true })
await ada.send('POST', 'completions', { prompt: 'canary 41' })
await ada.send('POST', 'keys', { name: 'one' })
const owner = ada.orgId!
const onTerminal = async (...line: string[]) => (await run(line, { io: fakeIo({ width: 80 }) })).stdout

test('at 80 columns audit list shows the whole action, its status and an id that audit get takes', async () => {
  const table = await onTerminal('audit', 'list', owner)
  expect(table.split('\n')[0]).toMatch(/^TIME +ACTION +STATUS +ID +(ABOUT +)?ENTITY$/)
  expect(Math.max(...table.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  const row = table.split('\n').find((line) => line.includes('completion.created'))!
  const [, status, id] = /completion\.created +(\d+) +([0-9a-f]{8})/.exec(row)!
  expect(status).toBe('200')
  const shown = JSON.parse((await run(`audit get ${id} ${owner} --json`)).stdout)
  expect(shown.id).toStartWith(id!)
  for (const name of [shown.entityId, shown.requestId])
    expect(JSON.parse((await run(`audit get ${name} ${owner} --json`)).stdout).id).toBe(shown.id)
  expect((await run(`audit get 00000000 ${owner}`)).exitCode).toBe(3)
})

test('at 80 columns keys list cuts no prefix, and keeps the id', async () => {
  const { body } = await ada.send('GET', 'keys')
  const table = await onTerminal('keys', 'list', '--org', owner)
  expect(table.split('\n')[0]).toMatch(/^ID +NAME +PREFIX .*SPEND/)
  for (const { prefix } of body.keys as { prefix: string }[]) expect(table).toContain(prefix)
})

test('at 80 columns logs show keeps the id that trace takes', async () => {
  const table = await onTerminal('logs', 'show')
  expect(table.split('\n')[0]).toMatch(/^TIME .* REQUEST$/)
  expect(table).toMatch(/ req_\w{24}$/m)
})

test('usage show --since counts from then on', async () => {
  const { stdout } = await run(`usage show ${owner} --json --since 24h`, { clock: systemClock })
  expect(JSON.parse(stdout).totals.requests).toBeGreaterThan(0)
  expect((await run(`usage show ${owner} --since 24h --from 2026-01-01`)).exitCode).toBe(2)
})

test('cache inspect takes the prompt as routing preview does', async () => {
  const { exitCode, stderr } = await run(['cache', 'inspect', 'canary 41'])
  expect({ exitCode, hasCanary: stderr.includes('canary') }).toEqual({ exitCode: 0, hasCanary: false })
  expect((await run('cache inspect')).exitCode).toBe(2)
})

test.each(['x', 'svc', 'localhost', 'a.example'])(
  'the operator API answers whatever the host is called: %s',
  async (host) => {
    expect((await world.app.ops.handle(new Request(`http://${host}/ops/v1/status`))).status).toBe(200)
  },
)

test.each<[string, string, RegExp]>([
  ['a Postgres that is down', 'postgres://me:canary@127.0.0.1:9/db', /^Postgres at 127\.0\.0\.1:9 .*database db as me/],
  ['a host that is none', 'postgres://me:canary@nowhere.invalid/db', /^Postgres at nowhere\.invalid:5432 /],
  ['a URL that is none', 'postgres://me:canary@h:99999/db', /^The URL of Postgres cannot be read/],
])('%s is named with its place and setting, without the password', async (_, databaseUrl, words) => {
  const config = { ...loadConfig(), dataDir: world.config.dataDir.concat('-gone'), databaseUrl }
  const { name, message } = (await openApp({ config, serving: false }).catch((thrown: Error) => thrown)) as Error
  expect(name).toBe('ConfigError')
  expect(message).toMatch(words)
  expect(message).toContain('SVC_DATABASE_URL')
  expect(message).not.toContain('canary')
})
