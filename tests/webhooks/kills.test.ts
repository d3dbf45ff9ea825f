import { expect, test } from 'bun:test'
import { isLong } from '../support/long'
import { postgresUrl } from '../support/store'
import { runDeliveryKills } from './kills'

test('events reach every receiver although nodes are killed and receivers fail, and no step acts twice (I17, I38)', async () => {
  const kills = { times: isLong ? 3 : 2 }
  const { problems, ...counts } = await runDeliveryKills({ events: 120, kills, seed: 17, postgres: postgresUrl })
  expect(problems).toEqual([])
  expect(counts).toMatchObject({ events: 120, flows: 12, kills: kills.times })
}, 300_000)
