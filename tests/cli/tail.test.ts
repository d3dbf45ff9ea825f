import { expect, test } from 'bun:test'
import { systemClock } from '../../src/kernel/clock'
import { cliOver } from '../support/cli'
import { eventually } from '../support/eventually'
import { fakeIo } from '../support/io'
import { createWorld } from '../support/world'

const world = await createWorld()
const run = cliOver(world)

test('events tail prints what is there, then what comes, one line of JSON each in a pipe, until Ctrl-C', async () => {
  const ada = await world.person()
  const publish = (eventType: string) => ada.send('POST', 'events', { orgId: ada.userId, eventType })
  for (const type of ['a', 'b']) await publish(type)
  const leaving = new AbortController()
  const io = fakeIo()
  const tail = run('events tail --last 1', { key: ada.key, io, signal: leaving.signal, clock: systemClock })
  await eventually(() => io.stdout().split('\n').length === 2)
  // One after the other: events of the same millisecond have no order.
  for (const [place, type] of ['c', 'd'].entries()) {
    await publish(type)
    await eventually(() => io.stdout().split('\n').length === 3 + place)
  }
  leaving.abort()
  const { exitCode, stderr, stdout } = await tail
  expect({ exitCode, stderr }).toEqual({ exitCode: 130, stderr: '3 events were shown.\n' })
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .slice(-2)
      .map((line) => JSON.parse(line).eventType),
  ).toEqual(['c', 'd'])
})

test('logs tail prints the requests that are wanted as they are answered', async () => {
  const ida = await world.person()
  const leaving = new AbortController()
  const io = fakeIo()
  const line = ['logs', 'tail', '--status', '4xx', '--path', 'completions']
  const tail = run(line, { io, signal: leaving.signal, clock: systemClock })
  await ida.send('GET', 'keys')
  await ida.send('POST', 'completions', {})
  await eventually(() => io.stdout().includes('\n'))
  leaving.abort()
  expect((await tail).exitCode).toBe(130)
  const shown = io.stdout().trimEnd().split('\n')
  expect(shown.map((one) => JSON.parse(one))).toMatchObject([{ method: 'POST', status: 400, code: 'validation_error' }])
})

test('on a terminal a tail prints the time of day, which stays right while it runs', async () => {
  const ada = await world.person()
  const leaving = new AbortController()
  const io = fakeIo({ width: 120 })
  const tail = run('events tail', { key: ada.key, io, signal: leaving.signal, clock: systemClock })
  await ada.send('POST', 'events', { orgId: ada.userId, eventType: 'a' })
  await eventually(() => io.stdout().split('\n').length > 2)
  leaving.abort()
  await tail
  expect(io.stdout()).toMatch(/^evt_\S+ +a .* \d\d:\d\d:\d\d$/m)
})
