// SQLite only: commands of one machine; what they call is tested with its module on both.
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cliHere } from '../support/cli'
import { eventually } from '../support/eventually'
import { fakeIo } from '../support/io'
import { temporaryFolder } from '../support/temporary-folder'

const root = temporaryFolder('svc-dev-')
const file = join(root, 'svc.server.json')
writeFileSync(file, JSON.stringify({ dataDir: join(root, 'data'), port: 0 }))
const run = cliHere({ env: { SVC_NO_INPUT: '1' } }, ...['--config', file])
const { json } = run

describe('a development server', () => {
  test('is seeded with a month of use and something of everything, all of it whole', async () => {
    expect((await run('dev seed --dry-run --exit-code')).exitCode).toBe(10)
    expect(existsSync(join(root, 'data'))).toBe(false)
    const made: { what: string; count: number }[] = await json('dev seed --size small')
    expect(made.map(({ what }) => what)).toEqual([
      'completions of the past month',
      'organizations, each with an owner, a key and 10.00',
      'keys',
      'completions',
      'policies',
      'published skills',
      'pending submissions',
      'widgets',
      'chats, one waiting for a person',
      'webhooks, one failing',
      'events',
      'workflow runs waiting for approval',
      'jobs, which run once a server starts',
    ])
    expect(statSync(join(root, 'data/dev-key')).mode & 0o777).toBe(0o600)
    expect((await json('usage show owner@localhost --by day')).length).toBeGreaterThan(28)
    expect((await run('verify')).exitCode).toBe(0)
  })

  test.each(['webhooks', 'hooks', 'widgets', 'workflows', 'jobs', 'submissions', 'keys', 'orgs', 'users'])(
    '%s: the id that a list shows on a terminal is one that the other commands take',
    async (noun) => {
      const { stdout } = await run(`${noun} list --no-headers`, { io: fakeIo({ width: 80 }) })
      const shown = stdout.split('\n', 1)[0]!.split(' ', 1)[0]!
      expect(shown).toMatch(/^\w{8,12}$/)
      expect((await json(`${noun} get ${shown}`)).id).toStartWith(shown)
    },
  )

  test('is reset only by its name, and keeps its secrets', async () => {
    const secrets = readFileSync(join(root, 'data/secrets.json'), 'utf8')
    expect((await run('dev reset')).exitCode).toBe(2)
    expect((await run('dev reset --confirm other')).exitCode).toBe(1)
    expect(existsSync(join(root, 'data/svc.db'))).toBe(true)
    expect((await run('dev reset --confirm data')).exitCode).toBe(0)
    expect(existsSync(join(root, 'data/svc.db'))).toBe(false)
    expect(existsSync(join(root, 'data/dev-key'))).toBe(false)
    expect(readFileSync(join(root, 'data/secrets.json'), 'utf8')).toBe(secrets)
  })

  test('has an engine that is slow or fails when it is told to', async () => {
    expect((await run('dev engine --fail-rate 2')).exitCode).toBe(2)
    const set = ['dev', 'engine', '--latency', '3ms', '--fail-rate', '1', '--chunk', '4']
    expect(await json(set)).toEqual({ latency_ms: 3, fail_rate: 1, chunk: 4 })
    const key = join(root, 'key')
    await run(`keys create --name k --secret-to ${key}`)
    await run('credits grant main 1.00 --reason try')
    expect((await run(['try', 'Count to three', '--key-file', key])).exitCode).toBe(7)
    expect(await json('dev engine --calm')).toEqual({ latency_ms: 0, fail_rate: 0, chunk: 1 })
    expect((await run(['try', 'Count to three', '--key-file', key])).stdout).toBe('One, two, three.\n')
    expect((await run('dev reset --confirm data')).exitCode).toBe(0)
  })

  test('is started and shown by quickstart, loaded, opened, and not reset while it runs', async () => {
    const leaving = new AbortController()
    const io = fakeIo()
    const showing = run('quickstart', { io, signal: leaving.signal })
    await eventually(() => io.stderr().includes('The server keeps running'))
    const shown = io.stdout()
    expect(shown).toMatch(/^server +\d+ ms {2}http:\/\/127\.0\.0\.1:\d+\n +\$ svc-admin serve --dev\n/)
    for (const came of ['One, two, three, four, five.', '4 parts', 'completion.created, signed', '/embed/widget/'])
      expect(shown).toContain(came)
    const loaded = await json('dev load --rps 10 --for 500ms')
    expect(loaded).toMatchObject({ failed: 0, first_problem: null })
    expect(loaded.ok).toBeGreaterThan(0)
    expect((await json('open health --print')).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1\/health$/)
    expect((await json('open inbox --print')).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/sign-in\/link#svc_sl_\w{48}$/)
    expect((await run('open nowhere')).exitCode).toBe(2)
    expect((await run('dev reset --confirm data')).exitCode).toBe(5)
    expect((await json('quickstart --end')).map(({ step }: { step: string }) => step)).toEqual([
      'server',
      'answer',
      'stream',
      'webhook',
      'widget',
    ])
    leaving.abort()
    expect((await showing).exitCode).toBe(130)
  })

  test('is none in production mode', async () => {
    const production = { env: { NODE_ENV: 'production', SVC_NO_INPUT: '1' } }
    const lines = [
      ['dev', 'seed'],
      ['dev', 'reset', '--confirm', 'data'],
      ['dev', 'engine', '--calm'],
    ]
    for (const line of lines) {
      const before = process.env.NODE_ENV
      process.env.NODE_ENV = 'production'
      const { exitCode, stderr } = await run(line, production)
      process.env.NODE_ENV = before
      expect(exitCode, stderr).toBe(5)
    }
  })
})

test('dev sink prints what comes, and answers as it is told', async () => {
  const leaving = new AbortController()
  const io = fakeIo()
  const line = ['dev', 'sink', '--port', '0', '--status', '503', '--print-body']
  const sinking = run(line, { io, signal: leaving.signal })
  await eventually(() => io.stderr().includes('Listening at'))
  const [url = ''] = /http:\S+\//.exec(io.stderr()) ?? []
  expect((await fetch(`${url}hook?a=1`, { method: 'POST', body: '{"type":"order.created"}' })).status).toBe(503)
  leaving.abort()
  expect((await sinking).exitCode).toBe(130)
  const body = '{"type":"order.created"}'
  const came = { method: 'POST', path: '/hook?a=1', status: 503, bytes: body.length, event: 'order.created', body }
  expect(JSON.parse(io.stdout())).toMatchObject(came)
})

test('cheat prints examples that can be pasted', async () => {
  expect((await run('cheat tier')).stdout).toContain('\nsvc-admin tiers list\n')
  expect((await run('cheat')).stdout.match(/^svc-admin /gm)!.length).toBeGreaterThan(200)
  expect((await run('help filters')).stdout).toContain('svc-admin jobs list --filter')
})
