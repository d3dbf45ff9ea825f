// SQLite only: a client of routes that tests of their modules call on both.
import { describe, expect, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/kernel/clock'
import { cliOver } from '../support/cli'
import { eventually } from '../support/eventually'
import { cli, fakeIo } from '../support/io'
import { temporaryFolder } from '../support/temporary-folder'
import { createWorld } from '../support/world'

const world = await createWorld()
const run = cliOver(world)
const folder = temporaryFolder('svc-audit-cli-')
const file = (name: string) => join(folder, name)

const ada = await world.person({ ofOrg: true })
await ada.send('POST', 'completions', { prompt: 'canary 40' })
for (const name of ['one', 'two']) await ada.send('POST', 'keys', { name })
const owner = ada.orgId!
const { json } = run

/** Export and checkpoint as an auditor has them. */
const exported = await run(`audit export ${owner} --out ${file('audit.csv')} --checkpoint ${file('checkpoint.json')}`)
const verifyLine = (csv = file('audit.csv'), checkpoint = file('checkpoint.json')) =>
  `audit verify --export ${csv} --checkpoint ${checkpoint}`.split(' ')

describe('audit list', () => {
  test('shows the record of an owner, as the API gives it', async () => {
    const { body } = await ada.send('GET', 'audit')
    expect(await json(`audit list ${owner}`)).toEqual(body)
    const { stdout } = await run(`audit list ${owner} --action key.* --since 3650d`)
    expect(stdout).toContain('key.created')
    expect(stdout).not.toContain('completion')
  })

  test('over an API key is the record of that key', async () => {
    const { stdout } = await run('audit list --json --limit 2', { key: ada.key })
    expect(JSON.parse(stdout)).toEqual((await ada.send('GET', 'audit?limit=2')).body)
  })

  test('of server is the chain that belongs to no tenant: what came with it', async () => {
    const { stdout, exitCode } = await run('audit list server')
    expect(exitCode).toBe(0)
    expect(stdout).toContain('skill.')
    expect(stdout).not.toContain('key.')
  })
})

test('audit tail prints what is there, then what comes, one line of JSON each in a pipe, until Ctrl-C', async () => {
  const bob = await world.person({ ofOrg: true })
  const leaving = new AbortController()
  const io = fakeIo()
  const tail = run(`audit tail ${bob.orgId} --last 1`, { io, signal: leaving.signal, clock: systemClock })
  await eventually(() => io.stdout().split('\n').length === 2)
  for (const name of ['a', 'b']) await bob.send('POST', 'keys', { name })
  await eventually(() => io.stdout().split('\n').length === 4)
  leaving.abort()
  const { exitCode, stderr, stdout } = await tail
  expect({ exitCode, stderr }).toEqual({ exitCode: 130, stderr: '3 events were shown.\n' })
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toEqual((await bob.send('GET', 'audit?limit=3')).body.reverse())
})

describe('audit head and actions', () => {
  test('give a place to keep, which verify then looks for', async () => {
    const head = await json(`audit head ${owner}`)
    expect(head.place).toBe(`${head.seq}:${head.hash}`)
    expect(head.checkpoint.scope).toBe(`org:${owner}`)
    expect(await json(['audit', 'verify', owner, '--head', head.place])).toMatchObject({ ok: true, head_seq: head.seq })
    const { exitCode, stderr } = await run(['audit', 'verify', owner, '--head', `${head.seq}:${'ab'.repeat(32)}`])
    expect(exitCode).toBe(9)
    expect(stderr).toBe(`broken: #${head.seq} is not the event that was kept, ${'ab'.repeat(32)}\n`)
  })

  test('count what was done', async () => {
    expect(await json(`audit actions ${owner}`)).toContainEqual({ action: 'completion.created', count: 1 })
  })

  test('refuse a head that is none', async () => {
    expect((await run(`audit verify ${owner} --head yesterday`)).exitCode).toBe(2)
  })
})

describe('audit export and verify', () => {
  test('write what only their reader can read, and prove it with no server at all', async () => {
    expect(exported).toMatchObject({ exitCode: 0, stdout: '' })
    expect(statSync(file('audit.csv')).mode & 0o777).toBe(0o600)
    const { stdout, exitCode } = await cli([...verifyLine(), '--json'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, complete: true, events_after_checkpoint: 1, broken: null })
  })

  test('print the same file on stdout, over either API', async () => {
    const header = '\ufeffid,timestamp,action,'
    expect((await run(`audit export ${owner}`)).stdout).toStartWith(header)
    const { stdout } = await run('audit export --action key.*', { key: ada.key })
    expect(stdout).toStartWith(header)
    expect(stdout).not.toContain('completion.created')
  })

  test.each<[string, (text: string) => string]>([
    ['a changed cell', (text) => text.replace('completion.created', 'completion.failed')],
    ['a cut tail', (text) => text.split('\r\n').toSpliced(1, 3).join('\r\n')],
    ['a missing line', (text) => text.split('\r\n').toSpliced(3, 1).join('\r\n')],
    ['another file', () => 'a,b\r\n1,2\r\n'],
    ['nothing', () => ''],
  ])('exit 9 on %s, and say where', async (_, change) => {
    writeFileSync(file('forged.csv'), change(readFileSync(file('audit.csv'), 'utf8')))
    const { exitCode, stderr, stdout } = await cli([...verifyLine(file('forged.csv')), '--json'])
    expect(exitCode).toBe(9)
    expect(JSON.parse(stdout).ok).toBe(false)
    expect(stderr).toStartWith('broken: ')
  })

  test('hold the checkpoint to the key it should be signed with', async () => {
    const { public_key } = JSON.parse(readFileSync(file('checkpoint.json'), 'utf8'))
    expect((await cli([...verifyLine(), '--public-key', public_key])).exitCode).toBe(0)
    const { exitCode, stderr } = await cli([...verifyLine(), '--public-key', 'A'.repeat(43)])
    expect(exitCode).toBe(9)
    expect(stderr).toBe(`broken: a checkpoint was signed with ${public_key}\n`)
  })

  test.each<[string, string[], RegExp]>([
    [
      'without a checkpoint',
      ['audit', 'verify', '--export', file('audit.csv')],
      /Without a checkpoint, an export proves nothing/,
    ],
    ['with a file that is not there', verifyLine(file('none.csv')), /There is no file/],
    ['with a checkpoint that is none', verifyLine(file('audit.csv'), file('audit.csv')), /not a checkpoint/],
    ['with a checkpoint and no export', ['audit', 'verify', '--checkpoint', 'x'], /work only with --export/],
  ])('exit 2 %s', async (_, line, sentence) => {
    const { exitCode, stderr } = await cli(line)
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(sentence)
  })
})
