// Timed: how late a change is heard.
import { afterAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { openPostgres, type TrackedTable } from '../../src/kernel/store'
import { TRACKED } from '../../src/kernel/store/wire'
import { eventually } from '../support/eventually'
import { createMigratedDatabase, postgresUrl } from '../support/store'
import { startTcpProxy } from '../support/tcp-proxy'

const user = (id: string) =>
  `INSERT INTO user_settings (user_id, default_mode, personality, timezone, svc_branding, updated_at) VALUES ('${id}', 'auto', 'x', 'UTC', true, 1)`

/**
 * Columns of remembered tables that no process remembers: never changed, written with calls, or read anew each time.
 */
const UNTOLD = {
  api_keys: 'created_at id last_used_at name prefix',
  orgs: 'created_at id name plan_note slug type updated_at',
  skill_installations: 'api_key_id failures id installed_at next_run_at user_id',
  skills: `category created_at description id install_count keywords name rating rating_count rating_sum search_text
    search_words seq updated_at version`.replace(/\s+/g, ' '),
  users: 'created_at email id name operator_role password_hash',
}

/** A process that hears, through a proxy, and another that writes. */
async function open() {
  const database = await createMigratedDatabase(postgresUrl!)
  const { hostname, port } = new URL(database.url)
  const proxy = await startTcpProxy({ hostname, port: Number(port || 5432) })
  const near = new URL(database.url)
  near.port = String(proxy.port)
  const store = openPostgres({ url: near.href, maxConnections: 2 })
  const writer = new SQL(database.url, { max: 1 })
  const heard: { table: string; at: number }[] = []
  for (const table of TRACKED) store.changes.follow([table], () => heard.push({ table, at: performance.now() }))
  const hear = async () =>
    void (await store.wire!.hear(
      () => undefined,
      () => undefined,
    ))
  await hear()
  afterAll(async () => {
    await store.close()
    await writer.close()
    await database.drop()
  })
  const { changes, wire } = store
  return { changes, wire: wire!, proxy, writer, heard, hear }
}

/** Uses the caches of a process, as calls do; without it a tick is rare. */
function use({ changes }: Awaited<ReturnType<typeof open>>) {
  const timer = setInterval(() => changes.holds(0), 20)
  afterAll(() => clearInterval(timer))
  return () => clearInterval(timer)
}

describe.if(postgresUrl !== undefined)('what another process changes', () => {
  test('is told of exactly the tables that processes cache', async () => {
    const rows = await (await open()).writer`SELECT DISTINCT tgrelid::regclass::text AS name FROM pg_trigger
      WHERE tgfoid = 'tell_change'::regproc ORDER BY 1`
    expect(rows.map(({ name }: { name: string }) => name)).toEqual([...TRACKED])
  })

  test('is told of every column but those that no cache holds', async () => {
    const rows = await (await open()).writer`
      SELECT tgrelid::regclass::text AS name, string_agg(attname, ' ' ORDER BY attname) AS untold
      FROM pg_trigger JOIN pg_attribute ON attrelid = tgrelid AND attnum > 0 AND NOT attisdropped
      WHERE tgfoid = 'tell_change'::regproc AND array_length(tgattr::int2[], 1) > 0 AND NOT attnum = ANY (tgattr::int2[])
      GROUP BY 1`
    const untold = rows.map(({ name, untold }: { name: string; untold: string }) => [name, untold])
    expect(Object.fromEntries(untold)).toEqual(UNTOLD)
  })

  test('is heard within 100 ms of the commit, and not before', async () => {
    const { heard, writer } = await open()
    heard.length = 0
    const late: number[] = []
    for (let n = 0; n < 20; n++) {
      const before = heard.length
      const committed = await writer.begin(async (tx) => {
        await tx.unsafe(user(`u${n}`))
        await Bun.sleep(5)
        expect(heard.length).toBe(before)
        return performance.now()
      })
      await eventually(() => heard.length > before)
      late.push(heard.at(-1)!.at - committed)
    }
    expect(new Set(heard.map(({ table }) => table))).toEqual(new Set<TrackedTable>(['user_settings']))
    expect(Math.max(...late)).toBeLessThan(100)
  })

  test('is not told where it is written with calls, or changes nothing', async () => {
    const { heard, writer } = await open()
    await writer`INSERT INTO api_keys (id, user_id, name, prefix, scopes, tier, allowed_origins, created_at)
      VALUES ('k', 'u', 'n', 'p', '[]', 'free', '[]', 1)`
    await writer`INSERT INTO sessions (id, user_id, token_hash, created_at, last_seen_at, expires_at)
      VALUES ('s', 'u', 'h', 1, 1, 1)`
    heard.length = 0
    await writer`UPDATE api_keys SET last_used_at = 5`
    await writer`UPDATE api_keys SET name = name`
    await writer`UPDATE api_keys SET tier = tier`
    await writer`UPDATE sessions SET last_seen_at = 5, expires_at = 9`
    await writer`DELETE FROM sessions WHERE id = 'nobody'`
    await writer`UPDATE api_keys SET tier = 'pro'`
    await eventually(() => heard.length > 0)
    expect(heard.map(({ table }) => table)).toEqual(['api_keys'])
  })

  test('holds within a second when the connection is dead without saying so, and everything is read anew after', async () => {
    const world = await open()
    const { changes, proxy, heard, writer, wire, hear } = world
    use(world)
    const readAt = changes.now()
    await Bun.sleep(1_200)
    expect(changes.holds(readAt)).toBe(true)
    heard.length = 0
    expect(proxy.halveListeners()).toBe(1)
    await writer.unsafe(user('lost'))
    const committed = performance.now()
    const youngest = changes.now()
    await eventually(() => !changes.holds(readAt))
    expect(performance.now() - committed).toBeLessThan(1_000)
    await eventually(() => !changes.holds(youngest))
    expect(performance.now() - committed).toBeLessThan(1_000)
    expect(heard).toEqual([])
    await eventually(() => !wire.hearing())
    await hear()
    expect(new Set(heard.map(({ table }) => table))).toEqual(new Set(TRACKED))
    await eventually(() => changes.holds(readAt))
  })

  test('is read anew when the connection broke', async () => {
    const { writer, heard } = await open()
    heard.length = 0
    await writer`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE 'LISTEN%'`
    await eventually(() => heard.length >= TRACKED.length)
    await writer.unsafe(user('after'))
    await eventually(() => heard.at(-1)!.table === 'user_settings')
  })

  test('costs a process that uses no cache one tick in four seconds', async () => {
    const { changes, heard } = await open()
    await Bun.sleep(1_000)
    expect(heard.length).toBe(TRACKED.length)
    expect(changes.holds(changes.now() - 950)).toBe(false)
  })
})
