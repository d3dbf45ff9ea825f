import { afterAll, expect, test } from 'bun:test'
import { eventually } from '../../support/eventually'
import { hasRedis, startRedis } from '../../support/redis'
import { devKeyOf, type ServerProcess } from '../../support/server-process'
import { postgresUrl } from '../../support/store'
import { startTwoNodes } from '../../support/two-nodes'

const can = hasRedis('two nodes with one Redis') && postgresUrl !== undefined
if (!postgresUrl) process.stdout.write('NOT RUN: two nodes with one Redis, because SVC_TEST_POSTGRES_URL is not set.\n')

test.skipIf(!can)(
  'two nodes count a key’s requests together, and share its limit while Redis is away (I-10)',
  async () => {
    const redis = await startRedis()
    afterAll(() => redis.stop())
    const settings = { SVC_REDIS_URL: redis.url, SVC_LOG_FORMAT: 'json', SVC_LOG_LEVEL: 'info' }
    const { one, other: two, home, databaseUrl } = await startTwoNodes(settings)
    const nodes = [one, two]

    const newKey = async (): Promise<string> => {
      const response = await fetch(`${one.url}/api/v1/keys`, {
        method: 'POST',
        headers: { authorization: `Bearer ${devKeyOf(home)}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'counted', rpm_limit: 20, scopes: ['completions'] }),
      })
      return ((await response.json()) as { key: string }).key
    }
    /** How a node answered 25 requests of a key that came at once. */
    const of = async ({ url }: ServerProcess, key: string) => {
      const ask = async () =>
        (await fetch(`${url}/api/v1/rate-limits`, { headers: { authorization: `Bearer ${key}` } })).status
      const all = await Promise.all(Array.from({ length: 25 }, ask))
      return {
        ok: all.filter((status) => status === 200).length,
        refused: all.filter((status) => status === 429).length,
      }
    }
    /** Where this machine stands still, one of them takes the other to be gone, and lets in fewer; never more. */
    const request = async (key: string) => {
      const [here, there] = await Promise.all([of(one, key), of(two, key)])
      expect(here.ok + there.ok).toBeLessThanOrEqual(20)
      return [here, there]
    }

    await eventually(async () => {
      const [here, there] = await request(await newKey())
      return here!.ok + there!.ok === 20 && here!.refused + there!.refused === 30
    })

    await redis.kill()
    await eventually(async () =>
      (await request(await newKey())).every(({ ok, refused }) => ok === 10 && refused === 15),
    )

    const { stdout } = Bun.spawnSync([process.execPath, 'cli/main.ts', 'doctor', 'redis', '--json'], {
      env: { ...process.env, ...settings, SVC_DATABASE_URL: databaseUrl, SVC_DATA_DIR: home },
    })
    expect(JSON.parse(String(stdout))).toEqual([
      expect.objectContaining({ status: 'warn', detail: expect.stringContaining('its share of the limits') }),
    ])

    await redis.start()
    for (const node of nodes) await eventually(async () => (await of(node, await newKey())).ok === 20)
    for (const node of nodes) {
      await node.stop()
      const notices = (await node.output()).split('\n')
      const count = (words: string) => notices.filter((line) => line.includes(words)).length
      expect(count('Redis is unavailable')).toBe(1)
      expect(count('Redis is back')).toBe(1)
      expect(count('loop failed')).toBe(0)
    }
  },
)
