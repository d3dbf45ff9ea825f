import { describe, expect, test } from 'bun:test'
import { OrgId } from '../../src/kernel/ids'
import { callOf, keyCaller, sessionCaller } from '../support/callers'
import { contextOf, openTools, requestOf, toolOf, wanted } from './world'

const named = (name: string, says: string, input = {}) => toolOf({ name, run: async () => says, ...input })
const says = async (tools: ReturnType<typeof openTools>, toolset: ReturnType<typeof tools.assemble>, name: string) =>
  (await tools.run(toolset, requestOf(name), contextOf())).result

describe('the tools of a run', () => {
  test('on a clash of names the caller’s own wins, then a skill’s, then ours (docs/api.md 22.5)', async () => {
    const tools = openTools({ system: ['a', 'b', 'c'].map((name) => named(name, 'ours')) })
    const toolset = tools.assemble(
      wanted({
        skills: ['a', 'b'].map((name) => named(name, 'a skill’s')),
        inline: [{ name: 'a', description: 'mine' }],
      }),
    )
    expect(await says(tools, toolset, 'a')).toEqual({ acknowledged: true })
    expect(await says(tools, toolset, 'b')).toBe('a skill’s')
    expect(await says(tools, toolset, 'c')).toBe('ours')
    expect(toolset.definitions.map(({ name }) => name).toSorted()).toEqual(['a', 'b', 'c'])
    expect(toolset.definitions.find(({ name }) => name === 'a')!.description).toBe('mine')
  })

  test('are the caller’s alone where system tools are not wanted', () => {
    const tools = openTools({ system: [named('ours', 'x')] })
    const toolset = tools.assemble(wanted({ system: false, inline: [{ name: 'mine', description: 'd' }] }))
    expect([...toolset.tools.keys()]).toEqual(['mine'])
  })

  test('are fixed before the first turn: what a room registers later joins the next run', () => {
    const tools = openTools()
    const toolset = tools.assemble(wanted())
    tools.register(named('later', 'x'))
    expect(toolset.tools.has('later')).toBe(false)
    expect(tools.assemble(wanted()).tools.has('later')).toBe(true)
  })

  test('have one name each', () => {
    const tools = openTools({ system: [named('one', 'x')] })
    expect(() => tools.register(named('one', 'y'))).toThrow('two tools are named one')
  })

  test('of an org are offered to everyone who acts in one, and those of the server to nobody', async () => {
    const levels = ['user', 'org_member', 'org_admin', 'system'] as const
    const tools = openTools({ system: levels.map((level) => named(level, 'x', { permissionLevel: level })) })
    const offeredTo = async (call: ReturnType<typeof wanted>['call']) => {
      const listed = (await tools.list(call, {})).map(({ name }) => name)
      expect([...tools.assemble(wanted({ call })).tools.keys()]).toEqual(listed)
      return listed
    }
    expect(await offeredTo(callOf(keyCaller()))).toEqual(['user'])
    const activeOrgId = OrgId.create()
    expect(await offeredTo(callOf(keyCaller({ activeOrgId })))).toEqual(['user', 'org_member', 'org_admin'])
    expect(await offeredTo(callOf(sessionCaller({ activeOrgId })))).toEqual(['user', 'org_member', 'org_admin'])
  })

  test('that need a scope are offered to sessions, which carry every one', () => {
    const tools = openTools({ system: [named('browser_act', 'x', { scope: 'connectors' })] })
    expect(tools.assemble(wanted({ call: callOf(sessionCaller()) })).definitions).toHaveLength(1)
    expect(tools.assemble(wanted({ call: callOf(keyCaller({ scopes: ['tools'] })) })).definitions).toHaveLength(0)
  })

  test('can be switched off by name', () => {
    const tools = openTools({ system: [named('a', 'x'), named('b', 'x')], enabled: ['b', 'z'] })
    expect([...tools.assemble(wanted()).tools.keys()]).toEqual(['b'])
    expect(tools.unknownNames()).toEqual(['z'])
  })

  test('show no more of their results than a run may show', async () => {
    const tools = openTools({ system: [named('big', 'x'.repeat(60_000))] })
    const toolset = tools.assemble(wanted())
    let shown = 0
    for (let call = 0; call < 40; call++) shown += JSON.stringify(await says(tools, toolset, 'big')).length
    expect(shown).toBeLessThan(1_100_000)
  })
})
