import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually, startTarget } from '../catalogue/support'
import { spawnServer } from '../catalogue/support/server'
import { neededBy, slowness } from '../support/effort'
import { spentBy } from '../support/spent'
import { createPostgresDatabase, postgresUrl } from '../support/store'

const KILLS = 12

/** Where a first start is killed before it is over: an empty folder, and on Postgres an empty database. */
async function emptyPlace() {
  const folder = mkdtempSync(join(tmpdir(), 'svc-boot-'))
  const database = postgresUrl ? await createPostgresDatabase(postgresUrl) : null
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await database?.drop()
  })
  return { folder, env: { SVC_PORT: '0', ...(database ? { SVC_DATABASE_URL: database.url } : {}) } }
}

test(`I33 a first start killed ${KILLS} times at any instant ends in a sound server`, async () => {
  const { folder, env } = await emptyPlace()
  for (let n = 0; n < KILLS; n++) {
    const child = Bun.spawn(['bun', 'src/main.ts'], {
      env: { PATH: process.env.PATH ?? '', SVC_DATA_DIR: folder, ...env },
      stdout: 'ignore',
      stderr: 'ignore',
    })
    await Bun.sleep(20 + n * 35)
    child.kill('SIGKILL')
    await child.exited
  }
  const server = await spawnServer(env, folder)
  expect((await server.ops('POST', '/ops/v1/verify')).body.ok).toBe(true)
  expect((await server.ops('POST', '/ops/v1/keys', { name: 'first' })).status).toBeOneOf([200, 201])
  await server.kill()
}, 180_000)

test('I33 a start on what kill -9 left is ready within 2 s, with nothing held, twice over', async () => {
  const target = await startTarget()
  const hanging = Array.from({ length: 20 }, (_, n) =>
    target.send('POST', 'completions', { body: { prompt: `${n} [[hang]]`, conversation_id: null } }).catch(() => null),
  )
  await eventually(() => target.upstream.calls.length >= 20)
  await target.murder()
  await Promise.all(hanging)
  let next = target
  const needed: number[] = []
  for (let turn = 0; turn < 2; turn++) {
    const [began, queuedBefore] = [performance.now(), spentBy('thread-self').queuedMs]
    const started = await next.again()
    needed.push(neededBy(started.pid, performance.now() - began, queuedBefore))
    expect((await started.ops('POST', '/ops/v1/verify')).body.ok).toBe(true)
    const money = await started.ops('GET', '/ops/v1/credits?owner=u1@example.com')
    // On Postgres another node may be alive, so there only time ends a hold.
    if (!postgresUrl) expect(money.body.held_cents).toBe(0)
    await started.murder()
    next = { ...target, ...started }
  }
  expect(Math.min(...needed)).toBeLessThan(2_000 * (await slowness()))
}, 120_000)
