// SQLite only: no store is asked.
import { afterAll, expect, test } from 'bun:test'
import { connect } from '../../src/app/client'

const silent = Promise.withResolvers<Response>()
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: ({ url }) => (url.endsWith('/me') ? silent.promise : Response.json({ events: [] })),
})
afterAll(() => {
  silent.resolve(new Response())
  return server.stop(true)
})

test('patience is for one answer, so what asks again and again does not end', async () => {
  const target = { kind: 'url', url: `http://127.0.0.1:${server.port}` } as const
  const client = connect(target, { headers: {}, patienceMs: 1_000 })
  for (let round = 0; round < 2; round++) {
    const gaveUp = await client.auth.me.get().then(
      ({ error }) => String(error?.value),
      (error: Error) => error.name,
    )
    expect(gaveUp).toContain('Timeout')
    expect((await client.events.get({ query: { limit: 1 } })).status).toBe(200)
  }
})

test('a path parameter is one segment, whatever it holds, and routes can be awaited', async () => {
  const requested: string[] = []
  const handle = ({ url }: Request) => {
    requested.push(new URL(url).pathname)
    return Response.json({})
  }
  const client = connect({ kind: 'app', handle }, { headers: {} })
  const one = await Promise.resolve(client.webhooks({ id: '../a b?c' }))
  await one.deliveries({ deliveryId: 'x/y' }).get()
  await one.delete()
  const webhook = '/api/v1/webhooks/..%2Fa%20b%3Fc'
  expect(requested).toEqual([`${webhook}/deliveries/x%2Fy`, webhook])
})
