import { describe, expect, test } from 'bun:test'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nagiosOf, prometheusOf } from '../../cli/commands/doctor'
import type { Result } from '../../cli/doctor/check'
import { type Check, type Context, fail, ok, runChecks, warn } from '../../cli/doctor/check'
import { speechCheck, transcriptionCheck, videoMarkCheck } from '../../cli/doctor/engines'
import { clockCheck, databaseCheck, jobsCheck, redisCheck } from '../../cli/doctor/server'
import { systemClock } from '../../src/kernel/clock'
import { cliOver } from '../support/cli'
import { fakeClock } from '../support/clock'
import { cli, fakeIo } from '../support/io'
import { temporaryFolder } from '../support/temporary-folder'
import { createWorld } from '../support/world'

const folder = temporaryFolder('svc-doctor-')

const context = { shell: { clock: fakeClock() } } as unknown as Context
const check = (name: string, needs: string[], run: Check['run']): Check => ({ name, needs, run })
const notify = async (checks: Check[]) =>
  (await runChecks(checks, context)).map(({ check: name, status, detail }) => [name, status, detail])

describe('what monitors read', () => {
  const found = (check: string, status: Result['status'], detail: string): Result => ({
    check,
    status,
    detail,
    fix: null,
    ms: 12,
  })
  const all = [
    found('config', 'ok', 'fine'),
    found('disk', 'warn', '3 | 100 GB'),
    found('browser', 'skip', 'needs disk'),
  ]

  test('nagios has its line, its exit codes, and the evidence of what is wrong', () => {
    expect(nagiosOf(all)).toEqual({
      lines: ['SVC WARNING - disk | ok=1 warn=1 fail=0 skip=1', 'disk warn: 3 / 100 GB'],
      code: 1,
    })
    expect(nagiosOf([...all, found('engines', 'fail', 'none answers')])).toMatchObject({ code: 2 })
    expect(nagiosOf(all.slice(0, 1))).toEqual({ lines: ['SVC OK - 1 checks | ok=1 warn=0 fail=0 skip=0'], code: 0 })
  })

  test('prometheus has a gauge for each check that ran', () => {
    expect(prometheusOf(all).filter((line) => !line.startsWith('#'))).toEqual([
      'svc_doctor_status{check="config"} 0',
      'svc_doctor_status{check="disk"} 1',
      'svc_doctor_seconds{check="config"} 0.012',
      'svc_doctor_seconds{check="disk"} 0.012',
    ])
  })

  test('doctor alone prints them', async () => {
    expect((await cli('version -o nagios')).stderr).toContain('version does not print nagios')
    const shown = await cli(`doctor --only disk -o nagios --data-dir ${folder}`)
    expect(shown.stdout).toStartWith('SVC ')
    expect([0, 1, 2]).toContain(shown.exitCode)
  })
})

describe('checks', () => {
  test('answer in the order given, however long each takes', async () => {
    const { promise: slow, resolve } = Promise.withResolvers<void>()
    const running = notify([
      check('first', [], async () => {
        await slow
        return ok('late')
      }),
      check('second', [], async () => {
        resolve()
        return ok('early')
      }),
    ])
    expect(await running).toEqual([
      ['first', 'ok', 'late'],
      ['second', 'ok', 'early'],
    ])
  })

  test('are a skip, not a second failure, when what they need has failed', async () => {
    const checks = [
      check('config', [], async () => fail('broken')),
      check('database', ['config'], async () => ok('never asked')),
      check('ledger', ['database'], async () => ok('never asked')),
      check('disk', [], async () => ok('10 GB')),
    ]
    expect(await notify(checks)).toEqual([
      ['config', 'fail', 'broken'],
      ['database', 'skip', 'needs config'],
      ['ledger', 'skip', 'needs database'],
      ['disk', 'ok', '10 GB'],
    ])
  })

  test('go on after a warning, and a throw is a failure with its sentence', async () => {
    const checks = [
      check('secrets', [], async () => warn('not there yet')),
      check('database', ['secrets'], async () => Promise.reject(new Error('it is gone'))),
    ]
    expect(await notify(checks)).toEqual([
      ['secrets', 'warn', 'not there yet'],
      ['database', 'fail', 'it is gone'],
    ])
  })
})

const world = await createWorld()
const run = cliOver(world)
const here = ['--data-dir', world.folder]

test('evidence is broken between words at the width of the terminal', async () => {
  const narrow = { io: fakeIo({ width: 60 }), env: { NO_COLOR: '1' } }
  const { stdout } = await on(world, () => run(['doctor', 'engines', ...here], narrow))
  const lines = stdout.split('\n').filter((line) => !line.includes('fix:'))
  expect(lines.length).toBeGreaterThan(2)
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60)
})

async function results(...line: string[]): Promise<Map<string, Result>> {
  const { stdout } = await on(world, () => run(['doctor', '--json', ...line, ...here]))
  return new Map((JSON.parse(stdout) as Result[]).map((result) => [result.check, result]))
}

/** The checks of this machine read the configuration themselves, so it must name the database of the world. */
async function on<T>({ config }: typeof world, work: () => Promise<T>): Promise<T> {
  process.env.SVC_DATABASE_URL = config.databaseUrl
  try {
    return await work()
  } finally {
    delete process.env.SVC_DATABASE_URL
  }
}

describe('doctor', () => {
  test('looks at the machine and at the server, each with evidence and time', async () => {
    const found = await results()
    expect([...found.keys()].slice(0, 5)).toEqual(['config', 'secrets', 'files', 'migrations', 'database'])
    // The Postgres of the tests does not wait for its disk, which the doctor warns of.
    const isWarned = found.get('database')!.detail.includes('fsync=off')
    for (const name of ['config', 'secrets', ...(isWarned ? [] : ['database']), 'ledger', 'audit chain']) {
      expect(found.get(name)).toMatchObject({ status: 'ok', fix: null, ms: expect.any(Number) })
    }
  })

  test('finds a clock that is months behind', async () => {
    expect((await results()).get('clock')).toMatchObject({ status: 'warn', fix: 'timedatectl set-ntp true' })
  })

  test('warns, with the command that repairs it, when only the built-in engine answers', async () => {
    const engines = (await results()).get('engines')
    expect(engines).toMatchObject({ status: 'warn', fix: expect.stringContaining('svc-admin engines add') })
  })

  test('checks the upstreams of the engines, and fails where nothing listens', async () => {
    const away = await createWorld({ config: { engineBaseUrl: 'http://127.0.0.1:9/v1', engineModel: 'mine' } })
    const line = ['doctor', 'engines', '--json', '--data-dir', away.folder]
    const { exitCode, stdout } = await on(away, () => cliOver(away)(line))
    expect(exitCode).toBe(9)
    expect(JSON.parse(stdout)).toMatchObject([
      {
        check: 'engines',
        status: 'fail',
        detail: 'default:mine at http://127.0.0.1:9/v1: nothing listens there',
        fix: 'svc-admin engines test',
      },
    ])
  })

  test('shows the checks that were asked for, and leaves out those that were not wanted', async () => {
    expect([...(await results('disk', 'clock')).keys()]).toEqual(['clock', 'disk'])
    expect([...(await results('--only', 'disk')).keys()]).toEqual(['disk'])
    expect((await results('--skip', 'backups,engines')).has('engines')).toBe(false)
  })

  test('exits 9 and says how to repair it when others can read the secrets', async () => {
    const secrets = join(world.folder, 'secrets.json')
    chmodSync(secrets, 0o644)
    const { exitCode, stdout, stderr } = await run(['doctor', 'secrets', ...here])
    chmodSync(secrets, 0o600)
    expect(exitCode).toBe(9)
    expect(stdout).toContain(`fix: chmod 600 ${secrets}`)
    expect(stderr).toBe('\n1 failed, 0 warnings\n')
  })

  test('looks without making anything: an empty place has no database, and that is no failure', async () => {
    const { exitCode, stdout } = await cli(`doctor database files --json --data-dir ${join(folder, 'nothing')}`)
    expect(exitCode).toBe(0)
    const [files, database] = JSON.parse(stdout) as Result[]
    expect(files).toMatchObject({ check: 'files', status: 'warn', fix: 'svc-admin serve' })
    expect(database).toMatchObject({ check: 'database', status: 'skip' })
  })

  test('a configuration that cannot be read is the one failure, and the rest skips', async () => {
    const config = join(folder, 'broken.json')
    writeFileSync(config, '{"prot": 3400}')
    const { exitCode, stdout } = await cli(['doctor', '--json', '--config', config])
    const failed = (JSON.parse(stdout) as Result[]).filter(({ status }) => status === 'fail')
    expect(exitCode).toBe(9)
    expect(failed).toEqual([expect.objectContaining({ check: 'config', detail: expect.stringContaining('"prot"') })])
  })

  test('refuses a check that is none, and says what was meant', async () => {
    expect(await run('doctor databse')).toMatchObject({ exitCode: 2, stdout: '' })
  })
})

test('doctor fails where nobody does jobs, and warns of files that nodes do not share', async () => {
  const found = (nodes: object) => {
    const data = { pid: 0, nodes: { count: 2, unserved: [], scattered_files: false, clock_ahead_ms: 0, ...nodes } }
    const connect = async () => ({ ops: () => ({ status: { get: async () => ({ data }) } }) })
    return jobsCheck.run({ connect } as never)
  }
  const lonely = { detail: 'no process has the role jobs, deliveries', fix: 'svc-admin serve --roles jobs,deliveries' }
  expect(await found({ unserved: ['jobs', 'deliveries'] })).toEqual({ status: 'fail', ...lonely })
  expect(await found({ scattered_files: true })).toMatchObject({
    status: 'warn',
    fix: expect.stringContaining('SVC_FILES_DIR'),
  })
  expect((await found({ clock_ahead_ms: -7_200 })).detail).toBe('the clock of this node is 7 s behind the database')
  expect(await found({})).toMatchObject({ status: 'ok', detail: '2 nodes cover all roles' })
  expect(await found({ count: 1 })).toMatchObject({ status: 'ok' })
  expect((await results('jobs')).get('jobs')).toMatchObject({ status: 'skip', detail: 'no server runs' })
})

test('doctor says whether Redis is there, why not, and that SQLite has no use for it', async () => {
  const found = (redis: object | null, dialect = 'postgres', count = 1) => {
    const data = { redis, database: { dialect }, nodes: { count } }
    const connect = async () => ({ ops: () => ({ status: { get: async () => ({ data }) } }) })
    return redisCheck.run({ connect } as never)
  }
  const up = { ok: true, latency_ms: 0.4, problem: null, evicts: null }
  expect(await found(up)).toMatchObject({ status: 'ok', detail: '0.4 ms' })
  expect(await found(up, 'sqlite')).toMatchObject({ status: 'skip' })
  expect(await found(null)).toMatchObject({ status: 'skip', detail: 'not set' })
  expect(await found(null, 'postgres', 3)).toMatchObject({ status: 'warn', detail: expect.stringContaining('3 nodes') })
  expect(await found({ ok: false, latency_ms: null, problem: 'a wrong password' })).toMatchObject({
    status: 'warn',
    detail: expect.stringContaining('a wrong password'),
  })
  expect(await found({ ...up, evicts: 'allkeys-lru' })).toMatchObject({
    status: 'warn',
    detail: expect.stringContaining('removes counts of rate limits by allkeys-lru'),
    fix: expect.stringContaining('maxmemory-policy noeviction'),
  })
})

test('doctor warns of a Postgres that may lose what it acknowledged, and of nodes whose clocks differ', async () => {
  const found = (check: Check, changes: { risks?: string[]; apart?: number }) => {
    const database = { ok: true, dialect: 'postgres', place: 'db:5432', latency_ms: 1, risks: changes.risks ?? [] }
    const data = { database, now: new Date().toISOString(), nodes: { clocks_apart_ms: changes.apart ?? 0 } }
    const connect = async () => ({ ops: () => ({ status: { get: async () => ({ data }) } }) })
    return check.run({ connect, shell: { clock: systemClock } } as never)
  }
  expect(await found(databaseCheck, {})).toMatchObject({ status: 'ok', detail: 'postgres db:5432, 1 ms' })
  expect(await found(databaseCheck, { risks: ['fsync=off', 'synchronous_commit=off'] })).toMatchObject({
    status: 'warn',
    detail: expect.stringContaining('fsync=off, synchronous_commit=off'),
    fix: 'set fsync=on, synchronous_commit=on in postgresql.conf',
  })
  expect(await found(clockCheck, { apart: 400 })).toMatchObject({ status: 'ok' })
  expect(await found(clockCheck, { apart: 7_000 })).toMatchObject({
    status: 'warn',
    detail: '7.00 s between the clocks of two nodes',
  })
})

describe('sound', () => {
  const checked = async (check: Check, config: object) =>
    check.run({
      config: () => ({ engines: { models: {} }, ttsBaseUrl: '', sttBaseUrl: '', videoBaseUrl: '', ...config }),
    } as never)

  test('speech comes from an upstream, else from an installed program, else from nowhere', async () => {
    const models = { 'svc-1-voice': ['local:tts-1'] }
    expect(await checked(speechCheck, { engines: { models } })).toEqual({ status: 'ok', detail: 'local:tts-1' })
    expect(await checked(speechCheck, { ttsBaseUrl: 'http://tts/v1' })).toMatchObject({ detail: 'http://tts/v1' })
    expect(await checked(speechCheck, { ttsLocal: 'sh' })).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('sh, on this machine'),
    })
    const none = await checked(speechCheck, { ttsLocal: 'no-such-program' })
    expect(none).toMatchObject({ status: 'warn', fix: 'apt-get install espeak-ng' })
    expect((await checked(speechCheck, { ttsLocal: '' })).status).toBe('skip')
  })

  test('transcription needs an upstream', async () => {
    expect(await checked(transcriptionCheck, { sttBaseUrl: 'http://stt/v1' })).toMatchObject({ status: 'ok' })
    expect(await checked(transcriptionCheck, {})).toMatchObject({
      status: 'skip',
      detail: expect.stringContaining('SVC_STT_BASE_URL'),
    })
  })

  test('videos of an upstream need a program that marks them', async () => {
    const upstream = { videoBaseUrl: 'http://film/v1' }
    expect((await checked(videoMarkCheck, { videoMarker: 'sh' })).status).toBe('skip')
    expect((await checked(videoMarkCheck, { ...upstream, videoMarker: '' })).status).toBe('skip')
    expect((await checked(videoMarkCheck, { ...upstream, videoMarker: 'sh' })).status).toBe('ok')
    const none = await checked(videoMarkCheck, { ...upstream, videoMarker: 'no-such-program' })
    expect(none).toMatchObject({ status: 'warn', fix: 'apt-get install ffmpeg' })
  })
})

test('doctor sees webhooks that fail, and widgets that no page may show', async () => {
  const found = async () => {
    const all = await results('webhooks out', 'widget origins')
    return ['webhooks out', 'widget origins'].map((name) => all.get(name)!)
  }
  expect((await found()).map(({ status }) => status)).toEqual(['ok', 'skip'])
  const ida = await world.person()
  await ida.send('POST', 'webhooks', { url: 'listen:', event_types: ['*'] })
  const { body: widget } = await ida.send('POST', 'iframes', { name: 'Shop', api_key_id: ida.keyId })
  const [webhooks, widgets] = await found()
  expect(webhooks).toMatchObject({ status: 'ok', detail: expect.stringContaining('1 webhook, none failing') })
  expect(widgets).toMatchObject({
    status: 'warn',
    fix: expect.stringContaining(`widgets update ${widget.id} --origin`),
  })
  await ida.send('PATCH', `iframes/${widget.id}`, { security: { allowedOrigins: ['https://shop.example'] } })
  expect((await found())[1]).toMatchObject({ status: 'ok', fix: null })
  await run(`keys revoke ${ida.keyId} --yes --reason gone`)
  expect((await found())[1]).toMatchObject({ status: 'warn', fix: `svc-admin widgets get ${widget.id}` })
})
