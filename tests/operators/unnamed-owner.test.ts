import { expect, test } from 'bun:test'
import { createWorld } from '../support/world'
import { operatorSender } from './support'

const READ = ['usage', 'usage/series', 'requests', 'credits', 'credits/ledger', 'audit', 'routing-corrections'] as const

test('what is read of one owner asks for that owner, unless the server has only one', async () => {
  const world = await createWorld()
  const first = await world.person({ ofOrg: false })
  const read = operatorSender(world)
  for (const path of READ) expect({ path, status: (await read('GET', path)).status }).toEqual({ path, status: 200 })
  await world.person({ ofOrg: false })
  for (const path of READ) {
    const { status, body } = await read('GET', path)
    expect({ path, status, code: body.error?.code, detail: body.error?.details?.[0]?.path }).toEqual({
      ...{ path, status: 400, code: 'validation_error', detail: 'owner' },
    })
    const named = await read('GET', `${path}?owner=user:${first.userId}`)
    expect({ path, status: named.status }).toEqual({ path, status: 200 })
  }
})
