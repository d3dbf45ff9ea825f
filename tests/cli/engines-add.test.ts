// SQLite only: a client of routes that tests of their modules call on both.
import { describe, expect, test } from 'bun:test'
import { cliOver } from '../support/cli'
import { startUpstream } from '../support/upstream'
import { createWorld } from '../support/world'

const run = cliOver(await createWorld())

describe('engines add', () => {
  test('says what a call costs where no price is set, and names the flag for an upstream without JSON', async () => {
    const plain = await startUpstream({ text: 'Hello there.' })
    const line = ['engines', 'add', 'plain', '--base-url', plain.url, '--models', 'scripted', '--no-key']
    const refused = await run(line)
    expect({ ...refused, stdout: '' }).toMatchObject({
      exitCode: 9,
      stderr: expect.stringContaining(
        'if it cannot answer in JSON, say so: engines add or update with --json-output no',
      ),
    })
    const added = await run([...line, '--json-output', 'no'])
    expect(added.exitCode).toBe(0)
    expect(added.stderr).toContain(
      "No price is set for plain, so a call costs svc's own price: 0.06¢ for 1,000 + 500 tokens (mode fast).",
    )
    await plain.stop()
  })

  test('without models uses all that the upstream lists, and asks to choose from many', async () => {
    const lists = (count: number) =>
      Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        fetch: () => Response.json({ data: Array.from({ length: count }, (_, at) => ({ id: `m${at}` })) }),
      })
    const [few, many, none] = [lists(3), lists(21), lists(0)]
    const add = (name: string, { port }: { port?: number | undefined }) =>
      run(`engines add ${name} --base-url http://127.0.0.1:${port}/v1 --no-key --no-test --json`)
    expect(JSON.parse((await add('few', few)).stdout).models).toEqual(['m0', 'm1', 'm2'])
    expect(JSON.parse((await add('none', none)).stdout).models).toEqual(['default'])
    const refused = await add('many', many)
    expect(refused.exitCode).toBe(2)
    expect(JSON.parse(refused.stderr).error.message).toStartWith(
      '"many" lists 21 models. Name those to use, best first: --models m0,m1. It lists m0, m1, ',
    )
    for (const one of [few, many, none]) await one.stop(true)
  })

  test('what is not there is named, with the command that lists what is', async () => {
    const removed = await run('engines remove nope --yes')
    expect({ ...removed, stdout: '' }).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('There is no upstream "nope".\nfix:   svc-admin engines list'),
    })
    expect((await run('engines test nope')).stderr).toContain('fix:   svc-admin engines list')
    expect((await run('keys get nope')).stderr).toContain('fix:   svc-admin keys list')
    const traced = await run('trace nope')
    expect({ ...traced, stdout: '' }).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining(
        'The request "nope" was not found: no running process remembers it. svc-admin logs',
      ),
    })
  })
})
