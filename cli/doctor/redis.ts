import { type Check, ok, skip, warn } from './check'
import { statusOf } from './server'

export const redisCheck: Check = {
  name: 'redis',
  asksServer: true,
  needs: ['database'],
  async run(context) {
    const { redis, database } = await statusOf(context)
    if (!redis) return skip('not set')
    const { problem, latency_ms } = redis
    if (problem)
      return warn(
        `${problem}; nodes that reach it count for the others, or each node allows its share of the limits`,
        'svc-admin config get redisUrl',
      )
    return database.dialect === 'sqlite' ? skip('not used: with SQLite there is only one node') : ok(`${latency_ms} ms`)
  },
}
