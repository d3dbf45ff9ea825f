// SQLite only: a client of routes that tests of their rooms call on both.
import { afterAll, expect, test } from 'bun:test'
import { cliOver } from '../support/cli'
import { fakeIo } from '../support/io'
import { createWorld } from '../support/world'

const world = await createWorld()
const working = world.app.container.jobs.start()
afterAll(() => working.stop())
const run = cliOver(world)
const ada = await world.person()
const as = { key: ada.key }
const fed = (body: object) => ({ ...as, io: fakeIo({ stdin: JSON.stringify(body) }) })

const FLOW = {
  name: 'Daily',
  triggerType: 'manual',
  steps: [
    { type: 'transform', name: 'Shape', config: { template: '{{trigger.a}}' } },
    { type: 'approval', name: 'Ask', config: { message: 'May it?' } },
  ],
}

test('a workflow is made from a file, run, watched and decided with a key', async () => {
  const made = await run(['workflows', 'create', '-f', '-'], fed(FLOW))
  expect(made.exitCode).toBe(0)
  expect((await run(['workflows', 'list'], as)).stdout).toContain('Daily')
  const begun = await run(['workflows', 'run', 'Daily', '--data', '-', '--json'], fed({ a: 5 }))
  expect([begun.exitCode, begun.stderr]).toEqual([8, expect.stringContaining('ok   0 Shape (transform)')])
  const { id } = JSON.parse(begun.stdout)
  expect((await run(['workflows', 'runs', 'Daily', '--status', 'paused'], as)).stdout).toContain(id.slice(0, 8))
  expect((await run(['workflows', 'approve', 'Daily', id, '--comment', 'fine'], as)).exitCode).toBe(0)
  const watched = await run(['workflows', 'watch', 'Daily', id], as)
  expect([watched.exitCode, watched.stderr]).toEqual([0, expect.stringContaining('ok   1 Ask (approval)')])
})

test('operators decide for anyone; a rejected run exits 9', async () => {
  const begun = await run(['workflows', 'run', 'Daily', '--json'], as)
  const { id } = JSON.parse(begun.stdout)
  expect((await run(['workflows', 'reject', 'Daily', id, '--yes'])).exitCode).toBe(0)
  const watched = await run(['workflows', 'watch', 'Daily', id])
  expect([watched.exitCode, watched.stderr]).toEqual([9, expect.stringContaining('fail 1 Ask (approval)')])
})
