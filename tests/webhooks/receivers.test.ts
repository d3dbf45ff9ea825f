import { afterAll, describe, expect, test } from 'bun:test'
import { createServer, type Socket } from 'node:net'
import { fakeClock } from '../support/clock'
import { expectData } from '../support/event-data'
import { freePort } from '../support/free-port'
import { createWorld } from '../support/world'
import { createReceiver, LOCAL, webhooksIn } from './support'

const clock = fakeClock()
const world = await createWorld({ config: LOCAL, clock })
const { make, publish, deliver, log, get } = webhooksIn(world)

/** A receiver that speaks as it likes. */
async function rude(talk: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    talk(socket)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  afterAll(() => server.close())
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`
}

async function attemptAt(url: string) {
  const ada = await world.person()
  const hook = await make(ada, url)
  await publish(ada)
  await deliver()
  const [row] = await log(ada, hook.id)
  await ada.send('DELETE', `webhooks/${hook.id}`)
  return row
}

describe('a receiver', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['closes before it reads', (socket) => socket.destroy()],
    ['resets in the middle', (socket) => void socket.once('data', () => socket.resetAndDestroy())],
    ['answers half a status line', (socket) => void socket.once('data', () => socket.end('HTTP/1.1 20'))],
    ['answers something else', (socket) => void socket.once('data', () => socket.end('hello\r\n\r\n'))],
  ])('that %s has not received it (J25)', async (_, talk) => {
    const row = await attemptAt(await rude(talk))
    expect(row).toMatchObject({ status: 'failed', http_status: null, error_message: 'reset' })
    expect(row.next_retry_at).not.toBeNull()
  })

  test.each<[string, (socket: Socket) => void]>([
    ['never ends its answer', (socket) => void socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\nx'))],
    [
      'answers megabytes',
      (socket) => void socket.once('data', () => socket.end(`HTTP/1.1 202 OK\r\n\r\n${'x'.repeat(3_000_000)}`)),
    ],
    [
      'breaks behind its status',
      (socket) =>
        void socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nok')
          setTimeout(() => socket.resetAndDestroy(), 20)
        }),
    ],
    ['answers before it has read', (socket) => void socket.write('HTTP/1.1 204 No Content\r\n\r\n')],
  ])('that %s has received it (J25)', async (_, talk) => {
    expect(await attemptAt(await rude(talk))).toMatchObject({ status: 'success', error_message: null })
  })

  test.each([
    [200, { status: 'success', error_message: null }],
    [503, { status: 'failed', error_message: 'http_5xx', next_retry_at: expect.any(String) }],
  ])('that answers %i without end is hung up on soon, and nothing of it is kept', async (status, as) => {
    let offered = 0
    const left = Promise.withResolvers<void>()
    const piece = 'x'.repeat(65_536)
    const url = await rude((socket) => {
      const fill = () => {
        while (!socket.destroyed) {
          offered += piece.length
          if (!socket.write(piece)) return
        }
      }
      socket.on('close', () => left.resolve()).on('drain', fill)
      socket.once('data', () => void socket.write(`HTTP/1.1 ${status} Endless\r\n\r\n`, fill))
    })
    const row = await attemptAt(url)
    expect(row).toMatchObject({ http_status: status, ...as })
    expect(JSON.stringify(row)).not.toContain('xxx')
    await left.promise
    // 64 KB are read. The rest is what the network between the two holds.
    expect(offered).toBeLessThan(32 * 1024 * 1024)
  })

  test('that is not there, or redirects, is tried again; a redirect is not followed (J14)', async () => {
    const refused = await attemptAt('http://127.0.0.1:9/'.replace(':9/', ':59999/'))
    expect(refused).toMatchObject({ status: 'failed', http_status: null, error_message: 'connect' })
    const target = createReceiver()
    for (const status of [301, 302, 303, 307, 308]) {
      const hop = createReceiver(() => new Response(null, { status, headers: { location: target.url } }))
      expect(await attemptAt(hop.url)).toMatchObject({
        status: 'failed',
        http_status: status,
        error_message: 'http_3xx',
      })
      expect(hop.got).toHaveLength(1)
    }
    expect(target.got).toEqual([])
  })

  test('that says 410 gets nothing more, and the other webhooks are told', async () => {
    const ada = await world.person()
    const [gone, other] = [createReceiver(() => new Response(null, { status: 410 })), createReceiver()]
    const hook = await make(ada, gone.url)
    await make(ada, other.url, { event_types: ['*'] })
    await publish(ada)
    await deliver()
    await publish(ada)
    await deliver()
    expect(gone.got).toHaveLength(1)
    expect(await get(ada, hook.id)).toMatchObject({ enabled: false, disabled_reason: 'gone', failure_count: 1 })
    const notice = other.got.map(({ body }) => JSON.parse(body)).find(({ type }) => type === 'webhook.disabled')
    expect(notice.data).toMatchObject({ webhook_id: hook.id, reason: 'gone' })
    await expectData(ada, ['webhook.disabled'])
    expect((await ada.send('GET', `audit?entity_id=${hook.id}&action=webhook.auto_disabled`)).body).toHaveLength(1)
    expect((await ada.send('POST', `webhooks/${hook.id}/test`)).status).toBe(409)
  })

  test('that fails for days is disabled, and enabled again with a fresh count', async () => {
    const ada = await world.person()
    let status = 500
    const receiver = createReceiver(() => new Response(null, { status }))
    const hook = await make(ada, receiver.url)
    for (let day = 0; day < 6; day++) {
      for (let n = 0; n < 4; n++) {
        await publish(ada)
        await deliver()
        clock.advance(6 * 3_600_000)
      }
    }
    await deliver()
    const off = await get(ada, hook.id)
    expect(off).toMatchObject({ enabled: false, disabled_reason: 'auto' })
    expect(off.failure_count).toBeGreaterThanOrEqual(20)
    const calls = receiver.got.length
    clock.advance(24 * 3_600_000)
    await deliver()
    expect(receiver.got).toHaveLength(calls)
    const { body: on } = await ada.send('PATCH', `webhooks/${hook.id}`, { enabled: true })
    expect(on).toMatchObject({ updated: true, enabled: true, failure_count: 0, disabled_reason: null })
    status = 200
    await publish(ada)
    await deliver()
    expect(receiver.got).toHaveLength(calls + 1)
  })

  test('that fails for days, but not all of them, stays enabled: each success begins its count anew', async () => {
    const ada = await world.person()
    let status = 500
    const receiver = createReceiver(() => new Response(null, { status }))
    const hook = await make(ada, receiver.url)
    for (let at = 0; at < 16; at++) {
      status = at === 8 ? 200 : 500
      await publish(ada)
      await deliver()
      clock.advance(12 * 3_600_000)
    }
    const { enabled, failure_count } = await get(ada, hook.id)
    expect(enabled).toBe(true)
    // Enough failures of their own, over less than 120 hours.
    expect(failure_count).toBeGreaterThanOrEqual(20)
    expect(receiver.got.length).toBeGreaterThan(failure_count + 20)
  })

  test('gets nothing more after the last attempt, until somebody retries', async () => {
    const ada = await world.person()
    let status = 400
    const receiver = createReceiver(() => new Response(null, { status }))
    const hook = await make(ada, receiver.url)
    await publish(ada)
    await deliver()
    clock.advance(100 * 3_600_000)
    await deliver()
    expect(receiver.got).toHaveLength(1)
    const [failed] = await log(ada, hook.id)
    status = 200
    const again = `webhooks/${hook.id}/deliveries/${failed.id}/retry`
    const [one, two] = [await ada.send('POST', again), await ada.send('POST', again)]
    expect({ body: one.body, status: two.status }).toMatchObject({
      body: { retried: true, delivery_id: failed.id },
      status: 200,
    })
    await deliver()
    expect(receiver.got).toHaveLength(2)
    expect(receiver.got[1]!.body).toBe(receiver.got[0]!.body)
    const [success] = await log(ada, hook.id)
    expect(success).toMatchObject({ status: 'success', attempt: 2, event_id: failed.event_id })
    expect((await ada.send('POST', `webhooks/${hook.id}/deliveries/${success.id}/retry`)).status).toBe(409)
  })

  test('gets the members of a payload in the order they were sent, and no retry once it is disabled', async () => {
    const ada = await world.person()
    const receiver = createReceiver(() => new Response(null, { status: 400 }))
    const hook = await make(ada, receiver.url)
    const payload = { z: 1, a: { y: [3, 1, 2], b: 'ü\u2028' }, m: null }
    await publish(ada, 'order.created', payload)
    await deliver()
    expect(receiver.got[0]!.body).toEndWith(`"data":${JSON.stringify(payload)}}`)
    const [failed] = await log(ada, hook.id)
    await ada.send('PATCH', `webhooks/${hook.id}`, { enabled: false })
    const again = await ada.send('POST', `webhooks/${hook.id}/deliveries/${failed.id}/retry`)
    expect({ status: again.status, code: again.body.error.code }).toEqual({ status: 409, code: 'conflict' })
    await deliver()
    expect(receiver.got).toHaveLength(1)
  })

  test('behind a proxy that drops kept connections gets each event all the same, on a new one', async () => {
    const ada = await world.person()
    const bodies: string[] = []
    const stored = new Set<Socket>()
    // The second request on a connection falls into the void, as behind a proxy that has forgotten its other side.
    const url = await rude((socket) => {
      socket.on('data', (data) => {
        if (stored.has(socket)) return void socket.destroy()
        stored.add(socket)
        bodies.push(data.toString())
        socket.write('HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\n')
      })
    })
    const hook = await make(ada, url)
    for (let at = 0; at < 3; at++) {
      await publish(ada, 'order.created', { at })
      await deliver()
      clock.advance(10_000)
      await deliver()
    }
    const successes = (await log(ada, hook.id)).filter(({ status }: { status: string }) => status === 'success')
    expect(new Set(successes.map(({ event_id }: { event_id: string }) => event_id)).size).toBe(3)
    expect([0, 1, 2].map((at) => bodies.some((body) => body.includes(`"data":{"at":${at}}`)))).toEqual([
      true,
      true,
      true,
    ])
  })

  test('that asked for order gets one at a time, and nothing before what it refused', async () => {
    const ada = await world.person()
    let status = 500
    const receiver = createReceiver(() => new Response(null, { status }))
    await make(ada, receiver.url, { ordered: true })
    for (let n = 0; n < 5; n++) await publish(ada, 'order.created', { n })
    await deliver()
    const numbers = () => receiver.got.map(({ body }) => JSON.parse(body).data.n)
    expect(numbers()).toEqual([0])
    status = 200
    clock.advance(5_600)
    await deliver()
    expect(numbers()).toEqual([0, 0, 1, 2, 3, 4])
  })
})

test('a refused port is named, also on this machine; a port without a listener is reported as such', async () => {
  const { status, body } = await (await world.person()).send('POST', 'webhooks', {
    name: 'mail',
    url: 'http://127.0.0.1:25/hook',
    event_types: ['*'],
  })
  expect({ status, ...body.error }).toMatchObject({ status: 400, code: 'url_blocked', param: 'url' })
  expect(body.error.message).toContain('port 25 is not allowed')
  expect(body.error.message).not.toContain('private')
  const free = await freePort()
  expect(await attemptAt(`http://127.0.0.1:${free}/`)).toMatchObject({ http_status: null, error_message: 'connect' })
})
