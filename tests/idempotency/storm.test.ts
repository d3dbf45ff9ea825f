// Both databases: claims of one key race in it.
import { expect, test } from 'bun:test'
import { createWorld } from '../support/world'
import { runStorm } from './storm'

const KEYS = 50
const PARALLEL = 20

test('of 50 keys, each sent by 20 at once, each runs once (I10)', async () => {
  const ada = await (await createWorld()).person()
  const report = await runStorm({
    keys: KEYS,
    parallel: PARALLEL,
    async send(key, number) {
      const reply = await ada.send('POST', 'keys', { name: `key ${number}` }, { 'idempotency-key': key })
      return { ...reply, isReplay: reply.headers.has('x-idempotent-replay') }
    },
  })
  expect(report.violations).toEqual([])
  expect(report).toMatchObject({ requests: KEYS * PARALLEL, executions: KEYS })
  const { body } = await ada.send('GET', 'keys?limit=100')
  const names = body.keys.map(({ name }: { name: string }) => name).filter((name: string) => name.startsWith('key '))
  expect(names).toHaveLength(KEYS)
}, 60_000)
