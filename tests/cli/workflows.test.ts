// SQLite only: a client of routes that tests of their rooms call on both.
import { afterAll, expect, test } from 'bun:test'
import { systemClock } from '../../src/kernel/clock'
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
  expect(begun).toMatchObject({ exitCode: 8, stderr: expect.stringContaining('ok   0 Shape (transform)') })
  const { id } = JSON.parse(begun.stdout)
  expect((await run(['workflows', 'runs', 'Daily', '--status', 'paused'], as)).stdout).toContain(id.slice(0, 8))
  expect((await run(['workflows', 'approve', 'Daily', id, '--comment', 'fine'], as)).exitCode).toBe(0)
  const watched = await run(['workflows', 'watch', 'Daily', id], as)
  expect(watched).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('ok   1 Ask (approval)') })
})

test('operators decide for anyone; a rejected run exits 9', async () => {
  const begun = await run(['workflows', 'run', 'Daily', '--json'], as)
  const { id } = JSON.parse(begun.stdout)
  expect((await run(['workflows', 'reject', 'Daily', id, '--yes'])).exitCode).toBe(0)
  const watched = await run(['workflows', 'watch', id])
  expect(watched).toMatchObject({ exitCode: 9, stderr: expect.stringContaining('fail 1 Ask (approval)') })
  expect((await run(['workflows', 'watch', crypto.randomUUID()], as)).exitCode).toBe(3)
})

test('validate says what is wrong, or where each step leads and when it runs next', async () => {
  const validate = (flow: object) =>
    run(['workflows', 'validate', '-'], { io: fakeIo({ stdin: JSON.stringify(flow) }) })
  const daily = { ...FLOW, triggerType: 'schedule', triggerConfig: { cron: '0 9 * * *', timezone: 'Europe/Vienna' } }
  const fine = await validate(daily)
  expect(fine).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Ask') })
  expect(fine.stderr.match(/^Runs /gm)).toHaveLength(5)
  const often = await validate({ ...daily, triggerConfig: { cron: '* * * * *' } })
  expect(often).toMatchObject({ exitCode: 9, stderr: expect.stringContaining('5 minutes') })
  const nowhere = await validate({ ...FLOW, steps: [{ ...FLOW.steps[0], onSuccess: 7 }] })
  expect(nowhere).toMatchObject({ exitCode: 9, stderr: expect.stringContaining('the last step is 0') })
  const around = await validate({ ...FLOW, steps: [{ ...FLOW.steps[0], onSuccess: 0 }, FLOW.steps[1]] })
  expect(around).toMatchObject({ exitCode: 9, stderr: expect.stringContaining('Step 1 cannot be reached') })
})

test('run --wait follows a run to its end, and its steps are listed', async () => {
  const slow = [
    { type: 'transform', name: 'First', config: { template: 1 } },
    { type: 'transform', name: 'Last', config: { template: 'done' } },
  ]
  await run(['workflows', 'create', '-f', '-'], fed({ name: 'Two', triggerType: 'manual', steps: slow }))
  const ended = await run(['workflows', 'run', 'Two', '--wait', '--json'], as)
  expect(ended.exitCode).toBe(0)
  const { id } = JSON.parse(ended.stdout)
  const steps = JSON.parse((await run(['workflows', 'runs', 'Two', id, '--json'], as)).stdout)
  expect(steps.map(({ name, status }: { name: string; status: string }) => `${name} ${status}`)).toEqual([
    'First completed',
    'Last completed',
  ])
})

test('run --step asks after each step, and stops at an approval', async () => {
  const stepping = { ...as, clock: systemClock }
  const begun = await run(['workflows', 'run', 'Daily', '--step', '--yes', '--json'], stepping)
  expect(begun).toMatchObject({ exitCode: 8, stderr: expect.stringMatching(/^ok {3}0 Shape .*\nwait 1 Ask .*\n$/) })
  const unasked = await run(['workflows', 'run', 'Daily', '--step'], stepping)
  expect(unasked).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('add --yes') })
})
