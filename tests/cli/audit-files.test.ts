// SQLite only: a client of routes that tests of their modules call on both.
import { describe, expect, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cliOver } from '../support/cli'
import { cli } from '../support/io'
import { temporaryFolder } from '../support/temporary-folder'
import { createWorld } from '../support/world'

const world = await createWorld()
const run = cliOver(world)
const folder = temporaryFolder('svc-audit-files-')
const file = (name: string) => join(folder, name)

const ada = await world.person({ ofOrg: true })
await ada.send('POST', 'completions', { prompt: 'hi', metadata: { é: 1, B: [1, { z: 1, a: 2 }] } })
for (const name of ['one', '=two']) await ada.send('POST', 'keys', { name })
const owner = ada.orgId!
const { json } = run

const [log, checkpoint] = [file('audit.jsonl'), file('checkpoint.json')]
const exported = await run(`audit export ${owner} -o jsonl --out ${log} --checkpoint ${checkpoint} --sign`)
const signature = `${log}.sig`

describe('audit get', () => {
  test('shows one event whole, by its id or by that of its request, over either API', async () => {
    const [newest] = await json(`audit list ${owner} --action key.created`)
    const whole = (await ada.send('GET', 'audit')).body.find(({ id }: { id: string }) => id === newest.id)
    expect(await json(`audit get ${newest.id} ${owner}`)).toEqual(whole)
    expect(await json(`audit get ${newest.requestId} ${owner}`)).toEqual(whole)
    expect(await json(`audit get ${newest.id}`, { key: ada.key })).toEqual(whole)
  })

  test("exits 3 for an id that is not there, and for another owner's", async () => {
    const [newest] = await json(`audit list ${owner}`)
    const eve = await world.person()
    for (const line of [
      ['audit', 'get', 'nothing', owner],
      ['audit', 'get', newest.id, eve.userId],
    ]) {
      const { exitCode, stderr } = await run(line)
      expect(exitCode).toBe(3)
      expect(stderr).toMatch(/^error: This record has no event .*\./)
    }
    expect((await run(`audit get ${newest.id}`, { key: eve.key })).exitCode).toBe(3)
  })
})

describe('audit list --actor', () => {
  test('finds what a user, a key or an operator did', async () => {
    await run(`credits grant ${owner} 1.00 --reason actor`)
    const { name } = (await json(`audit list ${owner} --action credits.*`))[0].inputSummary.operator
    const actions = async (actor: string, options = {}) => {
      const line = ['audit', 'list', ...('key' in options ? [] : [owner]), '--actor', actor]
      return new Set((await json(line, options)).map(({ action }: { action: string }) => action))
    }
    expect(await actions(name)).toContain('credits.granted')
    expect(await actions(name)).not.toContain('completion.created')
    for (const who of [ada.userId, ada.keyId]) {
      expect(await actions(who)).toContain('completion.created')
      expect(await actions(who)).not.toContain('credits.granted')
    }
    expect(await actions(ada.keyId, { key: ada.key })).toContain('key.created')
    expect(await actions('nobody')).toEqual(new Set())
  })

  test('takes an e-mail address on the operator API', async () => {
    const { email } = await json(`users get ${ada.userId}`)
    expect((await json(`audit list ${owner} --actor ${email}`)).length).toBeGreaterThan(0)
  })
})

describe('audit export -o jsonl', () => {
  test('is the events as the API gives them, one a line', async () => {
    expect(exported).toMatchObject({ exitCode: 0, stdout: '' })
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
    const body = (await ada.send('GET', 'audit?limit=100')).body
    const mine = lines.map((line) => JSON.parse(line))
    expect(mine).toEqual(body.slice(-mine.length))
    expect((await ada.send('GET', 'audit/export?format=jsonl')).text).toStartWith('{"id":')
  })

  test('is proven with the checkpoint alone, as the CSV is', async () => {
    const verify = (path: string) => cli(`audit verify --export ${path} --checkpoint ${checkpoint} --json`)
    const { exitCode, stdout } = await verify(log)
    expect({ exitCode, stdout: JSON.parse(stdout) }).toMatchObject({
      exitCode: 0,
      stdout: { ok: true, complete: true },
    })
    const text = readFileSync(log, 'utf8')
    const forgeries = [
      text.replace('completion.created', 'completion.failed'),
      text.replace('"cost_cents":', '"cost_cents":1'),
      text.split('\n').toSpliced(2, 1).join('\n'),
      text.replace('\n', '\nnothing\n'),
    ]
    for (const forged of forgeries) {
      writeFileSync(file('forged.jsonl'), forged)
      expect((await verify(file('forged.jsonl'))).exitCode).toBe(9)
    }
  })

  test.each(['yaml', 'id'])('refuses -o %s', async (format) => {
    expect((await run(['audit', 'export', owner, '-o', format])).exitCode).toBe(2)
  })
})

describe('audit export --sign', () => {
  const verify = (...rest: string[]) => cli(['audit', 'verify', '--export', log, '--signature', signature, ...rest])

  test('leaves a signature that proves the file with no server at all', async () => {
    const { stdout, exitCode } = await verify('--json')
    expect({ exitCode, stdout: JSON.parse(stdout) }).toMatchObject({
      exitCode: 0,
      stdout: { ok: true, scope: `org:${owner}` },
    })
    const { public_key, bytes } = JSON.parse(readFileSync(signature, 'utf8'))
    expect(bytes).toBe(statSync(log).size)
    expect((await verify('--public-key', public_key)).exitCode).toBe(0)
    expect(await verify('--public-key', 'A'.repeat(43))).toMatchObject({ exitCode: 9 })
  })

  test('exits 9 for another file, and for a signature that was changed', async () => {
    writeFileSync(file('other.jsonl'), `${readFileSync(log, 'utf8')}\n`)
    const other = await cli(['audit', 'verify', '--export', file('other.jsonl'), '--signature', signature])
    expect(other).toMatchObject({ exitCode: 9, stderr: 'broken: the file was changed after it was signed\n' })
    const stored = JSON.parse(readFileSync(signature, 'utf8'))
    writeFileSync(file('changed.sig'), JSON.stringify({ ...stored, scope: 'org:other' }))
    const changed = await cli(['audit', 'verify', '--export', log, '--signature', file('changed.sig')])
    expect(changed).toMatchObject({ exitCode: 9, stderr: 'broken: the signature is not valid\n' })
  })

  test.each<[string, string[], object]>([
    ['without a file', ['audit', 'export', owner, '--sign'], {}],
    ['over an API key', ['audit', 'export', '--sign', '--out', file('own.csv')], { key: ada.key }],
    ['with a signature that is none', ['audit', 'verify', '--export', log, '--signature', log], {}],
  ])('exits 2 %s', async (_, line, options) => {
    expect((await run(line, options)).exitCode).toBe(2)
  })
})
