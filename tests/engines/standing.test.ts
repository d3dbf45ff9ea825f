import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { operatorSender } from '../operators/support'
import { eventually } from '../support/eventually'
import { freePort } from '../support/free-port'
import { startUpstream } from '../support/upstream'
import { createWorld } from '../support/world'

setDefaultTimeout(60_000)

/** A server that takes connections and answers nothing. */
const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
const port = await freePort()
let upstream = await startUpstream({ port })
afterAll(async () => {
  silent.stop(true)
  await upstream.stop()
})

type Listed = { mode: string; status: string; model_id: string }

async function worldWith(upstreams: Record<string, object>, models: Record<string, string[]>, more = {}) {
  const world = await createWorld({ config: { engines: { upstreams, models }, ...more } as never })
  const ada = await world.person()
  const send = operatorSender(world)
  return {
    ada,
    statusOf: async (mode: string) => {
      return ((await ada.send('GET', 'models')).body.models as Listed[]).find((one) => one.mode === mode)!.status
    },
    chatIds: async () => (await ada.send('GET', 'models')).body.data.map(({ id }: { id: string }) => id) as string[],
    rows: async (mode: string) =>
      (await send('GET', 'engines')).body.engines.filter((row: { mode: string }) => row.mode === mode),
  }
}
const main = { kind: 'compat', baseUrl: `http://127.0.0.1:${port}/v1` }

describe('GET /models says available only of what would answer', () => {
  test('an upstream that fails and recovers, with the same report to the operator', async () => {
    const { statusOf, rows, chatIds } = await worldWith({ main }, { '*': ['main:scripted'] })
    expect(await rows('fast')).toMatchObject([{ state: 'ready', status: 'available', why: null }])
    expect(await statusOf('fast')).toBe('available')
    await upstream.stop()
    const [row] = await rows('fast')
    expect(row).toMatchObject({ state: 'unreachable', status: 'down', why: 'main:scripted: nothing listens there' })
    expect(await statusOf('fast')).toBe('down')
    expect(await chatIds()).not.toContain('svc-1-flash')
    upstream = await startUpstream({ port })
    expect(await rows('fast')).toMatchObject([{ status: 'available' }])
    expect(await statusOf('fast')).toBe('available')
  })

  test('one that nobody but the readers of the list ask for', async () => {
    const { statusOf } = await worldWith(
      { gone: { kind: 'compat', baseUrl: `http://127.0.0.1:${await freePort()}/v1` } },
      { '*': ['gone:x'] },
    )
    await eventually(
      () => statusOf('think'),
      (status) => status === 'down',
      10_000,
    )
  })

  test('a call that nobody receives fails at once', async () => {
    const { ada, statusOf } = await worldWith({ main }, { '*': ['main:scripted'] })
    expect(await statusOf('fast')).toBe('available')
    await upstream.stop()
    expect((await ada.send('POST', 'completions', { prompt: 'Hello', mode: 'fast' })).status).toBe(503)
    expect(await statusOf('fast')).toBe('down')
    upstream = await startUpstream({ port })
    expect((await ada.send('POST', 'completions', { prompt: 'Hello again', mode: 'fast' })).status).toBe(200)
    expect(await statusOf('fast')).toBe('available')
  })

  test('one that hangs is not waited for', async () => {
    const hanging = { kind: 'compat', baseUrl: `http://127.0.0.1:${silent.port}/v1` }
    const { statusOf } = await worldWith({ hanging, main }, { '*': ['hanging:x', 'main:scripted'] })
    const since = performance.now()
    await statusOf('fast')
    expect(performance.now() - since).toBeLessThan(1_500)
    // Its stand-in answers, but what is asked first does not.
    await eventually(
      () => statusOf('fast'),
      (status) => status === 'degraded',
      20_000,
    )
  })

  test('vision needs an engine that sees, and pictures and videos one that makes them', async () => {
    const blind = { ...main, vision: false }
    const none = await worldWith({ blind }, { '*': ['blind:scripted'] })
    expect(await none.statusOf('vision')).toBe('down')
    expect(await none.statusOf('think')).toBe('available')
    expect((await none.rows('vision'))[0]).toMatchObject({
      status: 'down',
      why: 'blind:scripted does not accept images',
    })
    const words = { kind: 'anthropic', baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'k' }
    const still = await worldWith({ words }, { 'svc-1-create': ['words:x'], '*': ['words:x'] })
    expect(await still.statusOf('image')).toBe('down')
  })

  test('research needs a search server, where a prompt names nothing to read', async () => {
    expect(await (await worldWith({ main }, { '*': ['main:scripted'] })).statusOf('research')).toBe('degraded')
    const search = { searchDriver: 'searxng', searchBaseUrl: 'http://127.0.0.1:9' }
    expect(await (await worldWith({ main }, { '*': ['main:scripted'] }, search)).statusOf('research')).toBe('available')
  })
})
