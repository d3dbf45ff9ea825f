import { describe, expect, test } from 'bun:test'
import { createWorld, type Person } from '../support/world'
import { manifest, reviewer, submit } from './support'

const world = await createWorld()
const admin = await reviewer(world)
const { skills, tools } = world.app.container

type Entry = { name: string; skillId: string | null; category: string; permissionLevel: string }
const listed = async (person: Person, query = ''): Promise<Entry[]> =>
  (await person.send('GET', `tools${query}`)).body.tools
const ofSkills = async (person: Person) => (await listed(person)).filter(({ skillId }) => skillId !== null)
const namesOf = async (person: Person) => (await ofSkills(person)).map(({ name }) => name)

/** What an engine is offered of skills when it is asked something. */
async function offered(person: Person, prompt = 'hello') {
  const call = world.callAs(person)
  const active = await skills.activeFor(call, { slugs: [], prompt })
  return tools.assemble({ inline: [], skills: active.tools, system: false, approved: [], call })
}
const tool = (name: string, members: object = {}) => ({ name, description: 'A tool.', ...members })

async function published(members: Record<string, unknown>) {
  const made = await submit(await world.person(), manifest(members))
  await admin.decide(made.id, 'approve')
  return made
}
const install = (person: Person, { skillId }: { skillId: string }) => person.send('POST', 'skills', { skillId })

describe('GET /tools', () => {
  test('lists the tools of what is installed and on, as a run offers them', async () => {
    const [ada, stranger] = [await world.person(), await world.person()]
    const made = await published({ tools: [tool('count_feet', { requiresApproval: true })] })
    expect(await namesOf(ada)).toEqual([])
    await install(ada, made)
    expect(await ofSkills(ada)).toEqual([
      {
        name: 'count_feet',
        description: 'A tool.',
        inputSchema: { type: 'object' },
        category: 'skill',
        permissionLevel: 'user',
        requiresApproval: true,
        skillId: made.skillId,
        available: true,
        unavailableReason: null,
        requiredScope: null,
      } as never,
    ])
    expect([...(await offered(ada)).tools.keys()]).toEqual(['count_feet'])
    expect(await namesOf(stranger)).toEqual([])

    await ada.send('PATCH', `skills/${made.skillId}/installation`, { enabled: false })
    expect(await namesOf(ada)).toEqual([])
    await ada.send('PATCH', `skills/${made.skillId}/installation`, { enabled: true })
    expect(await namesOf(ada)).toEqual(['count_feet'])
    await ada.send('DELETE', 'skills', { skillId: made.skillId })
    expect(await namesOf(ada)).toEqual([])
  })

  test('leaves out what a run would: tools without their permission, of levels one is not on, of suspended skills', async () => {
    const ada = await world.person()
    const withheld = await published({ tools: [tool('withheld')], permissions: ['read:artifacts'] })
    const levels = ['user', 'org_member', 'org_admin', 'system'].map((permissionLevel) =>
      tool(`level_${permissionLevel.replace('system', 'server')}`, { permissionLevel }),
    )
    const levelled = await published({ tools: levels })
    const down = await published({ tools: [tool('taken_down')] })
    for (const one of [withheld, levelled, down]) await install(ada, one)
    await admin.decide(down.id, 'suspend', 'It broke the rules.')
    expect(await namesOf(ada)).toEqual(['level_user'])
    expect([...(await offered(ada)).tools.keys()]).toEqual(['level_user'])
  })

  test('an organization’s tools are those of its own installations', async () => {
    const orgAda = await world.person({ ofOrg: true })
    const made = await published({ tools: [tool('org_count', { permissionLevel: 'org_member' })] })
    await install(orgAda, made)
    expect(await namesOf(orgAda)).toEqual(['org_count'])
  })

  test('counts keyword skills in, since a prompt may call on them', async () => {
    const ada = await world.person()
    const keywords = { trigger: { type: 'keyword', config: { keywords: ['haiku'] } }, tools: [tool('on_keyword')] }
    await install(ada, await published(keywords))
    expect(await namesOf(ada)).toEqual(['on_keyword'])
    expect((await offered(ada, 'hello')).tools.size).toBe(0)
    expect((await offered(ada, 'a haiku')).tools.size).toBe(1)
  })

  test('names each tool once: the first skill that brings a name keeps it', async () => {
    const ada = await world.person()
    const first = await published({ tools: [tool('same')] })
    const second = await published({ tools: [tool('same'), tool('other')] })
    await install(ada, second)
    await install(ada, first)
    await ada.send('PATCH', `skills/${first.skillId}/installation`, { priority: 1 })
    expect((await ofSkills(ada)).map(({ name, skillId }) => [name, skillId])).toEqual([
      ['same', first.skillId],
      ['other', second.skillId],
    ])
    expect((await offered(ada)).tools.get('same')?.skillId).toBe(first.skillId)
    expect((await listed(ada, '?category=skill')).map(({ name }) => name)).toEqual(['same', 'other'])
    expect((await listed(ada, '?category=search')).map(({ name }) => name)).not.toContain('same')
  })

  test.each(['web_search', 'generate_image', 'deep_research', 'browser_act'])('%s stays ours', async (name) => {
    const { reply } = await submit(await world.person(), manifest({ tools: [tool(name)] }))
    expect(reply.status).toBe(422)
    expect(reply.body.review.checks.tool_names).toContain('reserved by this server')
  })
})
