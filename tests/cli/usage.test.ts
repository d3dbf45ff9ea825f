// SQLite only: a client of routes that tests of their modules call on both.
import { describe, expect, test } from 'bun:test'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { cliOver } from '../support/cli'
import { temporaryFolder } from '../support/temporary-folder'
import { createWorld } from '../support/world'

const world = await createWorld()
const run = cliOver(world)
const folder = temporaryFolder('svc-usage-cli-')

const ada = await world.person({ ofOrg: true })
const owner = ada.orgId!
for (const prompt of ['one', 'two']) await ada.send('POST', 'completions', { prompt, mode: 'fast' })
await ada.send('POST', 'completions', { prompt: 'three', mode: 'think' })
const { json } = run

describe('usage show', () => {
  test('is the report its owner would get', async () => {
    const { period: _, request_id: __, ...theirs } = (await ada.send('GET', 'usage')).body
    expect(await json(`usage show ${owner}`)).toMatchObject({ id: `org:${owner}`, object: 'usage', ...theirs })
    expect(await json('usage show', { key: ada.key })).toMatchObject(theirs)
  })

  test.each([
    [
      'mode',
      [
        ['fast', 2],
        ['think', 1],
      ],
    ],
    [
      'model',
      [
        ['svc-1-flash', 2],
        ['svc-1-think', 1],
      ],
    ],
    ['key', [['test', 3]]],
    ['skill', []],
  ] as const)('--by %s has a line for each', async (by, wanted) => {
    for (const options of [{}, { key: ada.key }]) {
      const name = 'key' in options ? [] : [owner]
      const rows = await json(['usage', 'show', ...name, '--by', by], options)
      const seen = rows.map((row: { name: string; requests: number }) => [row.name, row.requests])
      if (by === 'model') expect(seen.map(([, requests]: [string, number]) => requests)).toEqual([2, 1])
      else expect(seen).toEqual(wanted)
    }
  })

  test('--by day in csv has shares that add up', async () => {
    const { stdout } = await run(`usage show ${owner} --by day -o csv`)
    expect(stdout).toMatch(/^name,requests,cost_cents,share\n\d{4}-\d\d-\d\d,3,[\d.]+,1\n$/)
  })

  test('filters, and refuses what the API refuses', async () => {
    expect((await json(`usage show ${owner} --mode think`)).totals.requests).toBe(1)
    const { exitCode, stderr } = await run(`usage show ${owner} --from 9999`)
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('"from" is "9999"') })
    expect((await run('usage show nobody')).exitCode).toBe(3)
  })
})

describe('usage requests', () => {
  test('lists the calls its owner would get, page by page, with the names of their keys', async () => {
    const { requests } = (await ada.send('GET', 'requests')).body
    expect(requests.map((row: { api_key_name: string }) => row.api_key_name)).toEqual(['test', 'test', 'test'])
    expect(await json(`usage requests ${owner}`)).toEqual(requests)
    expect(await json(`usage requests ${owner} --limit 1 --all`)).toEqual(requests)
    expect(await json('usage requests', { key: ada.key })).toEqual(requests)
    expect(await json(`usage requests ${owner} --mode think`)).toEqual([requests[0]])
    expect(await json(`usage requests ${owner} --status 5xx`)).toEqual([])
    expect((await run('usage requests nobody')).exitCode).toBe(3)
  })
})

describe('usage export', () => {
  test('writes the same file as the API, readable by its owner only, and on the record', async () => {
    const path = join(folder, 'usage.csv')
    await run(`usage export ${owner} --out ${path}`)
    expect(readFileSync(path, 'utf8')).toBe(`\ufeff${(await ada.send('GET', 'usage/export')).text}`)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect((await ada.send('GET', 'audit?action=usage.exported')).body).toHaveLength(2)
  })

  test('is one JSON object a line with -o jsonl', async () => {
    const rows = (await run('usage export -o jsonl --mode fast', { key: ada.key })).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(rows).toMatchObject([{ mode: 'fast' }, { mode: 'fast' }])
  })

  test('says why there is no file', async () => {
    const { exitCode, stdout, stderr } = await run(`usage export ${owner} --from 2020-01-01`)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain('the maximum is 92')
  })
})

describe('usage of a key', () => {
  test('is that of its owner, no matter who that is, by its id or its name', async () => {
    const [ada, org] = [await world.person(), await world.person({ ofOrg: true })]
    for (const person of [ada, org]) {
      const { body } = await person.send('POST', 'keys', { name: `only-${person.userId}` })
      await world.send('POST', 'completions', { prompt: 'hi' }, { authorization: `Bearer ${body.key}` })
      for (const key of [body.id, `only-${person.userId}`]) {
        expect(JSON.parse((await run(`usage show --key ${key} --json`)).stdout)).toMatchObject({
          id: person.orgId ? `org:${person.orgId}` : `user:${person.userId}`,
          totals: { requests: 1 },
        })
      }
    }
    expect((await run('usage show --key nobody')).exitCode).toBe(3)
  })

  test('over --url says where else calls may stand, and --scope goes there', async () => {
    const ada = await world.person()
    await ada.send('POST', 'completions', { prompt: 'hi' })
    const { body } = await ada.send('POST', 'orgs', { name: 'Mine' })
    await ada.send('POST', `orgs/${body.id}/activate`)
    const shown = await run('usage show --json', { key: ada.key })
    expect(JSON.parse(shown.stdout)).toMatchObject({ scope: 'org', totals: { requests: 0 } })
    expect(shown.stderr).toContain('For calls of your personal keys, add --scope user.')
    const own = await run('usage show --scope user --json', { key: ada.key })
    expect(JSON.parse(own.stdout)).toMatchObject({ scope: 'user', totals: { requests: 1 } })
  })

  test('is told when it is revoked, and how full its minute is while it works', async () => {
    const ada = await world.person({ tier: 'free' })
    for (const prompt of ['one', 'two', 'three']) await ada.send('POST', 'completions', { prompt })
    expect(JSON.parse((await run(`keys get ${ada.keyId} --json`)).stdout).now.rpm).toBe('5%')
    const { stderr } = await run(`keys revoke ${ada.keyId} -y --reason done`)
    expect(stderr).toContain(', which had 3 calls in the last hour: done')
  })
})
