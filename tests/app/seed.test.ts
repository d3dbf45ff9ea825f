import { describe, expect, test } from 'bun:test'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasDevKey, seedFirstRun } from '../../src/app/seed'
import { cliOver } from '../support/cli'
import { createWorld, type World } from '../support/world'

const seed = ({ app, folder }: World) => seedFirstRun(app.container, folder)
const keyFileOf = ({ folder }: World) => join(folder, 'dev-key')

describe('the first run', () => {
  test('makes an owner, an org, credit and a key on tier enterprise that works at once', async () => {
    const world = await createWorld()
    const seeded = await seed(world)
    expect(seeded!.key).toMatch(/^svc_sk_[a-z]+_/)
    expect(readFileSync(keyFileOf(world), 'utf8')).toBe(`${seeded!.key}\n`)
    expect(statSync(keyFileOf(world)).mode & 0o777).toBe(0o600)

    const authorization = { authorization: `Bearer ${seeded!.key}` }
    const keys = await world.send('GET', 'keys', undefined, authorization)
    expect(keys.body.keys).toHaveLength(1)
    expect(keys.body.keys[0]).toMatchObject({
      name: 'Dev laptop',
      tier: 'enterprise',
      scope: 'personal',
      status: 'active',
    })
    expect((await world.send('POST', 'completions', { prompt: 'What is 2 + 2?' }, authorization)).status).toBe(200)
  })

  test("shows the first call where one looks first: in the API's usage, in the CLI's, and in its balance", async () => {
    const world = await createWorld()
    const seeded = await seed(world)
    const authorization = { authorization: `Bearer ${seeded!.key}` }
    await world.send('POST', 'completions', { prompt: 'What is 2 + 2?' }, authorization)
    const { body } = await world.send('GET', 'usage', undefined, authorization)
    expect(body).toMatchObject({ scope: 'user', totals: { requests: 1 } })
    const run = cliOver(world)
    const shown = async (line: string[], key?: string) =>
      JSON.parse((await run([...line, '--json'], key === undefined ? {} : { key })).stdout)
    for (const key of [undefined, seeded!.key])
      expect(await shown(['usage', 'show'], key)).toMatchObject({ totals: body.totals, balance: body.balance })
    expect(await shown(['credits', 'balance'])).toMatchObject({ balance_cents: body.balance.balance_cents })
    expect(await shown(['audit', 'list', '--action', 'completion.created'])).toHaveLength(1)
  })

  test('happens once: a second start makes nothing, with the key file or without', async () => {
    const world = await createWorld()
    await seed(world)
    expect(await seed(world)).toBeNull()
    rmSync(keyFileOf(world))
    expect(await seed(world)).toBeNull()
  })

  test('makes a key that is known as such for as long as it works', async () => {
    const world = await createWorld()
    expect(await hasDevKey(world.app.container)).toBe(false)
    const seeded = await seed(world)
    expect(await hasDevKey(world.app.container)).toBe(true)
    const run = cliOver(world)
    const dev = (await run(['keys', 'list', '--json'])).stdout
    const [{ id }] = JSON.parse(dev)
    expect((await run(['keys', 'revoke', id, '--reason', 'production', '--yes'])).exitCode).toBe(0)
    expect(await hasDevKey(world.app.container)).toBe(false)
    expect(dev).not.toContain(seeded!.key)
  })

  test('does not happen where a key exists already', async () => {
    const world = await createWorld()
    await world.person()
    expect(await seed(world)).toBeNull()
  })

  test('that crashed after the file and before the commit is done again, over the dead key', async () => {
    const world = await createWorld()
    writeFileSync(keyFileOf(world), 'svc_sk_live_never_committed\n')
    const seeded = await seed(world)
    expect(readFileSync(keyFileOf(world), 'utf8')).toBe(`${seeded!.key}\n`)
  })

  test('is on the record as the server’s own doing, and says nothing of the key in the log', async () => {
    const world = await createWorld()
    const seeded = await seed(world)
    expect(world.logged.join('')).not.toContain(seeded!.key)
    const audit = await world.send('GET', 'audit', undefined, { authorization: `Bearer ${seeded!.key}` })
    expect(audit.body.map(({ action }: { action: string }) => action)).toContain('key.created')
    expect(audit.text).not.toContain(seeded!.key)
  })
})
