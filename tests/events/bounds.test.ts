import { expect, test } from 'bun:test'
import { EventId } from '../../src/events/schema'
import { deliverable, STARTED } from '../../src/events/service'
import { fakeClock } from '../support/clock'
import { createWorld } from '../support/world'
import { webhooksIn } from '../webhooks/support'

const time = fakeClock()
const world = await createWorld({ clock: time })
const { make, publish } = webhooksIn(world)
const { fanOut, store, clock } = world.app.container

test('what is too large for a delivery is left out by name, and the ids stay', () => {
  const result = 'ü'.repeat(200_000)
  expect(deliverable({ job_id: 'j1', result, error: null })).toEqual({
    job_id: 'j1',
    result: null,
    error: null,
    _omitted: ['result'],
  })
  const small = { job_id: 'j1', result: 'x'.repeat(200_000) }
  expect(deliverable(small)).toBe(small)
  const wide = Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`m${at}`, 'x'.repeat(100)]))
  expect(Buffer.byteLength(JSON.stringify(deliverable(wide)))).toBeLessThan(256 * 1024)
})

test('what events start ends at a thousand events a minute, on the record once, and goes on after it (R5)', async () => {
  const ada = await world.person()
  await make(ada, 'https://203.0.112.7/hook', { event_types: ['echo.*'] })
  const echo = (count: number) =>
    store.write(async (tx) => {
      const reached: number[] = []
      for (let at = 0; at < count; at++) {
        const event = { id: EventId.create(), type: 'echo.more', scope: `user:${ada.userId}` as const, depth: 1 }
        reached.push((await fanOut.publish(tx, { ...event, created: clock.now(), data: { value: at } }, null)).webhook)
      }
      return reached
    })
  expect(await echo(STARTED.max)).toEqual(Array(STARTED.max).fill(1))
  expect(await echo(20)).toEqual(Array(20).fill(0))
  expect((await publish(ada, 'echo.by.hand')).body.matchedWebhooks).toBe(1)
  const { body: stopped } = await ada.send('GET', 'audit?action=event.loop_stopped')
  expect(stopped).toMatchObject([{ inputSummary: { metadata: { event_type: 'echo.more', depth: 1 } } }])
  time.advance(STARTED.everyMs + 1)
  expect(await echo(1)).toEqual([1])
})
