import { expect, test } from 'bun:test'
import { devKeyOf, type ServerProcess } from '../support/server-process'
import { postgresUrl } from '../support/store'
import { startTwoNodes } from '../support/two-nodes'

if (!postgresUrl) process.stdout.write('NOT RUN: listening at one of two, because SVC_TEST_POSTGRES_URL is not set.\n')

test.skipIf(!postgresUrl)(
  'anyone who listens at one process gets what happens at the other, once it is told',
  async () => {
    const { one, other: two, home } = await startTwoNodes({})
    const nodes = [one, two]
    const authorization = `Bearer ${devKeyOf(home)}`
    const ask = async (at: ServerProcess, method: string, path: string, body?: object) => {
      const headers = { authorization, 'content-type': 'application/json' }
      const sent = body ? { body: JSON.stringify(body) } : {}
      return (await fetch(`${at.url}/api/v1/${path}`, { method, headers, ...sent })).json()
    }
    const { id } = await ask(one, 'POST', 'webhooks', { url: 'listen:', event_types: ['order.*'] })
    const { user } = await ask(one, 'GET', 'auth/me')
    const waiting = ask(two, 'PUT', `webhooks/${id}/listener`, { wait_seconds: 20 })
    const event = await ask(one, 'POST', 'events', { orgId: user.id, eventType: 'order.paid', payload: { n: 1 } })
    expect(event.matchedWebhooks).toBe(1)
    expect((await waiting).deliveries).toMatchObject([{ event_id: event.id, event_type: 'order.paid' }])
    // Anyone who reconnects to the other process gets it again, until one of them was told.
    expect((await ask(one, 'PUT', `webhooks/${id}/listener`, {})).deliveries).toHaveLength(1)
    const done = [{ event_id: event.id, http_status: 200 }]
    await Promise.all([one, two].map((node) => ask(node, 'PUT', `webhooks/${id}/listener`, { done })))
    for (const node of nodes) expect((await ask(node, 'PUT', `webhooks/${id}/listener`, {})).deliveries).toEqual([])
    const log = (await ask(two, 'GET', `webhooks/${id}/deliveries`)).deliveries
    expect(log).toMatchObject([{ event_id: event.id, status: 'success', http_status: 200, attempt: 1 }])
  },
)
