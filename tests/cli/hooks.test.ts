// SQLite only: a client of routes that tests of their modules call on both.
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cliOver } from '../support/cli'
import { createWorld } from '../support/world'

const world = await createWorld()
const run = cliOver(world)
const { json } = run

test('hooks are installed, changed, seen to run and deleted', async () => {
  const { key } = await world.person()
  expect((await json('hooks presets', { key })).map(({ id }: { id: string }) => id)).toContain('task.overdue.summary')
  const config = join(world.folder, 'hook.json')
  writeFileSync(config, JSON.stringify({ prompt: 'What is 6 times 7?' }))
  const order = ['--pattern', 'order.*', '--skill', 'todo-manager', '--cooldown', '5m', '-f', config]
  const made = await json(['hooks', 'install', ...order], { key })
  expect(made).toMatchObject({ event_pattern: 'order.*', cooldown_minutes: 5, config: { prompt: expect.any(String) } })
  // In a pipe nothing is cut, ids neither (docs/operating.md 2.3).
  expect((await run('hooks list', { key })).stdout).toMatch(new RegExp(`^${made.id} .*order\\.\\*`, 'm'))
  expect(await run(['hooks', 'match', 'A B!!'], { key })).toMatchObject({ exitCode: 2, stdout: '' })
  const changed = await json(`hooks update ${made.id} --cooldown 1h --name Orders`, { key })
  expect(changed).toMatchObject({ cooldown_minutes: 60, name: 'Orders' })
  expect(await json('events publish order.created', { key })).toMatchObject({ matchedHooks: 1 })
  const { jobs } = world.app.container
  await jobs.runDue('hooks.fire')
  await jobs.runDue('skills.run')
  expect(await json(`hooks runs ${made.id}`, { key })).toMatchObject([{ status: 'completed' }])
  expect((await json(`hooks get ${made.id}`, { key })).last_fired_at).toEqual(expect.any(String))
  expect((await json(`hooks disable ${made.id}`, { key })).enabled).toBe(false)
  expect((await json(`hooks enable ${made.id}`, { key })).enabled).toBe(true)
  expect(await json(`hooks delete ${made.id} --yes`, { key })).toMatchObject({ deleted: true })
  expect((await run(`hooks get ${made.id}`, { key })).exitCode).toBe(3)
})
