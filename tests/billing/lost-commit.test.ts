// Both databases: money.
import { afterAll, expect, test } from 'bun:test'
import type { Hold } from '../../src/billing/schema'
import { payerOf } from '../../src/billing/schema'
import { openPostgres } from '../../src/kernel/store'
import { createMigratedDatabase, postgresUrl } from '../support/store'
import { startTcpProxy } from '../support/tcp-proxy'
import { createWorld, endOf, newRef } from './world'

if (!postgresUrl)
  process.stdout.write('NOT RUN: commits without an answer, because SVC_TEST_POSTGRES_URL is not set.\n')

const ROUNDS = 12
const CALLS = 8

test.skipIf(!postgresUrl)(
  'a commit whose answer is lost has charged each of its calls once, and none is tried again',
  async () => {
    const database = await createMigratedDatabase(postgresUrl!)
    const { hostname, port } = new URL(database.url)
    const proxy = await startTcpProxy({ hostname, port: Number(port) })
    const url = new URL(database.url)
    url.port = String(proxy.port)
    const store = openPostgres({ url: url.href, maxConnections: 4 })
    afterAll(async () => {
      await store.close()
      await database.drop()
    })
    const { account, billing, ending, verify } = createWorld(store)
    const ada = await account(1_000_000)
    for (let round = 0; round < ROUNDS; round++) {
      const holds = await Promise.all(
        Array.from({ length: CALLS }, () =>
          store.writeTogether(billing.reserveAll, { ...payerOf(ada.caller), ref: newRef(), amount: 10 }),
        ),
      )
      let runs = 0
      proxy.loseCommits(true)
      const ends = await Promise.allSettled(
        (holds as Hold[]).map((hold) => {
          const plain = endOf(ada.caller, hold, 7)
          return ending.end({
            ...plain,
            describe(costMicro) {
              runs += 1
              return plain.describe(costMicro)
            },
          })
        }),
      )
      proxy.loseCommits(false)
      expect(ends.map((end) => end.status === 'rejected' && end.reason.code)).toEqual(
        holds.map(() => 'storage_unavailable'),
      )
      expect(runs).toBe(CALLS)
      // The requests left their holds to be released, and none is found.
      expect(await billing.releaseAbandoned()).toBe(0)
      const spent = (round + 1) * CALLS * 7
      expect(await ada.balance()).toEqual({ balance: 1_000_000 - spent, held: 0, available: 1_000_000 - spent })
    }
    expect(await verify()).toEqual([])
  },
  120_000,
)
