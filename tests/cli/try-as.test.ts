// SQLite only: a client of routes that tests of their modules call on both.
import { expect, test } from 'bun:test'
import { FORMAT_NAMES } from '../../cli/commands/try'
import { cliOver } from '../support/cli'
import { createWorld } from '../support/world'

const world = await createWorld()
const run = cliOver(world)
const { key } = await world.person()

test.each(FORMAT_NAMES)('try asks as a client of %s does, whole and streamed', async (name) => {
  for (const more of [[], ['--stream']]) {
    const { stdout, stderr, exitCode } = await run(['try', 'Count to three', '--as', name, ...more], { key })
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'One, two, three.\n' })
    expect(stderr).toContain('mode auto → fast')
    expect(stderr).toMatch(/[1-9]\d* tokens/)
    expect(stderr).toContain('/v1/')
  }
})

test.each(FORMAT_NAMES)('try shows the answer of %s as it came, or its events', async (name) => {
  const whole = await run(['try', 'Count to three', '--as', name, '--json'], { key })
  expect(JSON.parse(whole.stdout)).toHaveProperty('svc_metadata')
  const { stdout } = await run(['try', 'Count to three', '--as', name, '--json', '--stream'], { key })
  expect(stdout.trim().split('\n').length).toBeGreaterThan(2)
})

test('try refuses a mode for a format without modes, and says what a format refuses', async () => {
  expect((await run(['try', 'x', '--as', 'chat', '--mode', 'fast'], { key })).exitCode).toBe(2)
  expect((await run(['try', ' ', '--as', 'messages'], { key })).stderr).toContain('messages')
})
