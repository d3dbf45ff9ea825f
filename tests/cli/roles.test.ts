// SQLite only: roles are declared by routes and by commands, and no row is asked.
import { expect, test } from 'bun:test'
import { SESSION } from '../../cli/commands/takeovers'
import { allCommands } from '../../cli/registry'
import { mayRun } from '../../cli/roles'
import { OPERATOR_ROLES } from '../../src/kernel/caller'
import { operatorSender } from '../operators/support'
import { operatorRulesOf } from '../operators/table'
import { cliOver } from '../support/cli'
import { createWidgetWorld } from '../widgets/world'

const world = await createWidgetWorld({ config: { opsListen: '127.0.0.1:0' } })
const { id, owner } = await world.widget()
const chat = await world.begin(id)
const viewer = (await operatorSender(world as never)('POST', 'operators', { name: 'eve', role: 'viewer' })).body.key
const run = cliOver(world as never)
const rules = operatorRulesOf(world as never)

/** They read no route as an operator, never end, or take the terminal. */
const ALONE = /^(try|dashboard|quickstart|doctor|dev load)$|(listen|attach)$/
const changing = (await allCommands()).filter(
  ({ path, impact, apis }) => impact === 'write' && apis.includes('operator') && !ALONE.test(path),
)

/** The route that a viewer is refused, tried by each example in turn; null where something else is said first. */
async function routeOf(examples: readonly string[]): Promise<[method: string, route: string] | null> {
  for (const example of examples) {
    const words = example
      .split(/ [|>] /)[0]!
      .replace(SESSION, chat.sessionId)
      .match(/"[^"]*"|'[^']*'|\S+/g)!
    const line = words.map((word) => word.replace(/^["']|["']$/g, '')).filter((word) => word !== '--dry-run')
    const { stderr } = await run([...line, '--reason', 'r', '--yes'], { key: viewer })
    const [, method, route] = /The role viewer cannot ([A-Z]+) (\S+)\. /.exec(stderr) ?? []
    if (route) return [method!, route]
  }
  return null
}

test('a dry run refuses exactly whom the server refuses', async () => {
  const unlike: string[] = []
  const found: string[] = []
  for (const { path, examples } of changing) {
    const route = await routeOf(examples)
    if (!route) continue
    found.push(path)
    for (const role of OPERATOR_ROLES)
      if (mayRun(role, path) !== rules.mayCall(role, ...route)) unlike.push(`${role}: ${path} (${route.join(' ')})`)
  }
  expect(unlike).toEqual([])
  // The others find nothing in this world before they would change it.
  expect(found.length).toBeGreaterThan(70)
})

test('a viewer sees what the role hides, and whom to ask for more', async () => {
  await owner.send('POST', 'events', {
    orgId: owner.userId,
    eventType: 'order.created',
    payload: { note: 'heliotrope' },
  })
  const listed = await run('events list', { key: viewer })
  expect(listed.exitCode).toBe(0)
  expect(listed.stdout).toContain('order.created')
  expect(listed.stdout).not.toContain('heliotrope')
  expect(listed.stderr).toContain('Hidden for your operator role: payload. The role support can see it.')
  const json = await run('events list --json', { key: viewer })
  expect(JSON.parse(json.stdout)[0]).toMatchObject({ eventType: 'order.created', payload: {} })
  const refused = await run('audit export', { key: viewer })
  expect(refused).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('Ask an operator with the role') })
})
