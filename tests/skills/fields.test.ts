import { describe, expect, test } from 'bun:test'
import { createWorld, type Person } from '../support/world'
import { reviewer, staffManifest, submit } from './support'

const world = await createWorld()
const admin = await reviewer(world)
const [ada, bob] = [await world.person(), await world.person()]

/** The members of docs/api.md 8.3; lists leave out the prompt, and so does everything for others than the author. */
const SKILL = `
  id name slug description category version toolDefinitions declaredPermissions installCount isPublic reviewStatus
  authorUserId orgScopeId readme license keywords requiredPermissions configSchema setupGuide comingSoon createdAt
  updatedAt
`
  .trim()
  .split(/\s+/)

const endpoint = { url: 'https://tools.example/count' }
const rich = staffManifest({
  readme: '# Haiku',
  license: 'Apache-2.0',
  setupGuide: 'Nothing to set up.',
  keywords: ['poems'],
  configSchema: { type: 'object', properties: { season: { type: 'string' } } },
  permissions: ['execute:tools', 'external:http'],
  tools: [{ name: 'count_syllables', description: 'Counts syllables.', endpoint }],
})
const { id, skillId, slug } = await submit(ada, rich)
await admin.decide(id, 'approve')
await bob.send('POST', 'skills', { skillId })

const listed = async (person: Person, query: string) =>
  (await person.send('GET', `skills?${query}`)).body.skills.find((one: { id: string }) => one.id === skillId)

describe('a skill has the members of the contract', () => {
  test.each([
    ['the store', () => listed(bob, `q=${slug.replaceAll('-', ' ')}`)],
    ['the store again, from what is remembered', () => listed(bob, 'sort=newest')],
    ['what is installed', () => listed(bob, 'filter=installed')],
    ['by itself', async () => (await bob.send('GET', `skills/${skillId}`)).body],
  ])('for others, without its prompt and where its tools are called: %s', async (_, read) => {
    const skill = await read()
    expect(Object.keys(skill)).toEqual(expect.arrayContaining(SKILL))
    expect(skill).not.toHaveProperty('systemPromptExt')
    expect(skill).toMatchObject({
      readme: '# Haiku',
      license: 'Apache-2.0',
      setupGuide: 'Nothing to set up.',
      keywords: ['poems'],
      requiredPermissions: rich.permissions,
      declaredPermissions: rich.permissions,
      configSchema: rich.configSchema,
      comingSoon: false,
      reviewStatus: 'approved',
      orgScopeId: null,
      toolDefinitions: [{ name: 'count_syllables', description: 'Counts syllables.' }],
    })
    expect(JSON.stringify(skill)).not.toContain('tools.example')
  })

  test('for its author with where its tools are called, in lists without its prompt', async () => {
    const [inList, whole] = [await listed(ada, 'filter=mine'), (await ada.send('GET', `skills/${skillId}`)).body]
    for (const skill of [inList, whole]) expect(skill.toolDefinitions[0].endpoint).toEqual(endpoint)
    expect(inList).not.toHaveProperty('systemPromptExt')
    expect(whole.systemPromptExt).toBe(String(rich.systemPromptExtension))
  })

  test('and shows a new version from when it is in force, to its author from when it is made', async () => {
    const next = { slug, version: '1.1.0', readme: '# Second' }
    const second = await submit(ada, staffManifest(next), { skill_id: skillId })
    expect((await listed(bob, 'sort=newest')).readme).toBe('# Haiku')
    expect((await listed(ada, 'filter=mine')).readme).toBe('# Second')
    await admin.decide(second.id, 'approve')
    expect((await listed(bob, 'sort=newest')).readme).toBe('# Second')
  })

  test.each(['reject', 'withdraw'])('also after %s, for its author', async (move) => {
    const made = await submit(ada, staffManifest({ readme: `# Ended by ${move}` }))
    if (move === 'reject') await admin.decide(made.id, 'reject', 'because')
    else await ada.send('DELETE', `skills/submissions/${made.id}`)
    const { skills } = (await ada.send('GET', 'skills?filter=mine')).body
    expect(skills.find((one: { id: string }) => one.id === made.skillId).readme).toBe(`# Ended by ${move}`)
  })
})
