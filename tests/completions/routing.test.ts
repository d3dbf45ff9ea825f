import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../support/clock'
import { eventually } from '../support/eventually'
import { readFrames } from '../support/frames'
import { impatiently } from '../support/impatiently'
import { startUpstream, UPSTREAM_SECRET } from '../support/upstream'
import { createWorld } from '../support/world'
import { freshPrompt } from './upstream-world'

const clock = fakeClock()
const [main, backup] = [await startUpstream({ text: 'main' }), await startUpstream({ text: 'backup' })]
const world = await createWorld({
  isAlone: true,
  clock,
  config: {
    engines: {
      upstreams: { main: { kind: 'compat', baseUrl: main.url }, backup: { kind: 'compat', baseUrl: backup.url } },
      models: {
        'svc-1-flash': ['main:quick'],
        'svc-1-reason': ['backup:slow'],
        'svc-1-code': ['main:coder', 'backup:coder'],
      },
    },
  },
})
const ada = await world.person()

const ask = (input: object) =>
  impatiently(clock, ada.send('POST', 'completions', { prompt: freshPrompt(), mode: 'fast', ...input }))

describe('an engine', () => {
  test('of the mode answers, unless the call names another', async () => {
    expect((await ask({})).body).toMatchObject({ content: 'main', model: { id: 'svc-1-flash' } })
    const { body } = await ask({ model_overrides: { fast: 'svc-1-reason' } })
    expect(body).toMatchObject({
      content: 'backup',
      resolved_mode: 'fast',
      model: { id: 'svc-1-reason', label: 'Svc Reason' },
    })
    expect(body.routing).toMatchObject({ source: 'explicit', fallback_used: false })
  })

  test('that is named for another mode is not asked', async () => {
    expect((await ask({ model_overrides: { code: 'svc-1-reason' } })).body.content).toBe('main')
  })

  test('may be named by its alias', async () => {
    expect((await ask({ model_overrides: { fast: 'svc-1-edge' } })).body.model.id).toBe('svc-1-roast')
  })

  test.each([['[[500]]'], ['[[503]]'], ['[[drop]]'], ['[[html]]'], ['[[empty]]'], ['[[malformed]]']])(
    'that fails with %s is not the end: its fallback is asked',
    async (fault) => {
      backup.reset()
      const { status, body } = await ask({ prompt: `${freshPrompt()} ${fault}`, mode: 'fast' })
      // Both upstreams read the same prompt, so the fallback fails the same way: what counts is that it was asked.
      expect(backup.calls.length).toBeGreaterThan(0)
      expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'engine_unavailable' })
      clock.advance(120_000)
    },
  )

  test('that is away is replaced by its fallback, and the answer says by which', async () => {
    await main.stop()
    const { status, body } = await ask({})
    expect(status).toBe(200)
    expect(body).toMatchObject({ content: 'backup', model: { id: 'svc-1-reason', label: 'Svc Reason' } })
    expect(body.routing.fallback_used).toBe(true)
    const [row] = (await ada.send('GET', 'audit?action=completion.created&limit=1')).body
    expect(row.outputSummary).toMatchObject({ engine: 'svc-1-reason', fallback_used: true })
  })

  test('that is away is replaced in a stream too', async () => {
    const done = readFrames((await ask({ stream: true })).text).at(-1)!
    expect(done).toMatchObject({ event: 'done', data: { content: 'backup', routing: { fallback_used: true } } })
  })

  test('with a second target of its own is not said to have fallen back', async () => {
    const { body } = await ask({ mode: 'code' })
    expect(body).toMatchObject({ content: 'backup', model: { id: 'svc-1-code' }, routing: { fallback_used: false } })
  })

  test('that keeps failing is shown as such, until it answers after 30 seconds', async () => {
    for (let round = 0; round < 3; round++) await ask({})
    const models = (await ada.send('GET', 'models')).body.models
    const statusOf = (id: string) => models.find(({ model_id }: { model_id: string }) => model_id === id).status
    expect(statusOf('svc-1-flash')).toBe('degraded')
    expect(statusOf('svc-1-reason')).toBe('available')
    const again = await startUpstream({ port: Number(new URL(main.url).port) })
    clock.advance(30_001)
    await eventually(async () => {
      await ask({})
      return (await ada.send('GET', 'models/svc-1-flash')).body.status === 'available'
    })
    await again.stop()
  })

  test('and its fallback both unavailable are 503 without a charge or a vendor name', async () => {
    await backup.stop()
    const before = await world.app.container.billing.balance(world.app.store.read, `user:${ada.userId}`)
    const { status, headers, body, text } = await ask({})
    expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'engine_unavailable' })
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(text).not.toContain(UPSTREAM_SECRET)
    expect(text).not.toContain('main')
    expect(await world.app.container.billing.balance(world.app.store.read, `user:${ada.userId}`)).toEqual(before)
  })
})
