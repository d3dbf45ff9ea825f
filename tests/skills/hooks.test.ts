import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { SkillRunId } from '../../src/automation/schema'
import { LIMITS } from '../../src/automation/skill-runs'
import { type SkillRunRow, skillRuns as table } from '../../src/automation/table'
import { jobs } from '../../src/jobs/table'
import { SkillId } from '../../src/skills/schema'
import { fakeClock } from '../support/clock'
import { createWorld, type Person, type World } from '../support/world'
import { manifest, reviewer, submit } from './support'

const world = await createWorld()
const admin = await reviewer(world)
const runHooks = (where: World = world) => where.app.container.jobs.runDue('skills.hook')

async function published(members: Record<string, unknown>) {
  const made = await submit(await world.person(), manifest(members))
  if (made.reply.body.submission.status === 'pending_review') await admin.decide(made.id, 'approve')
  return made
}
const hooks = { onInstall: 'What is 6 times 7?', onUninstall: 'What is 9 times 9?' }
const install = (person: Person, { skillId }: { skillId: string }) => person.send('POST', 'skills', { skillId })
const uninstall = (person: Person, { skillId }: { skillId: string }) => person.send('DELETE', 'skills', { skillId })

/** How the runs of an owner ended, oldest first, once all that are due have run. */
async function ran(person: Person, where = world): Promise<{ hook: string; result: string; status: number }[]> {
  await runHooks(where)
  const events = await recorded(person, 'skill.hook_ran')
  return events.map(({ inputSummary, outputSummary: { status } }) => ({ ...inputSummary.metadata, status })).reverse()
}
type Recorded = {
  requestId: string
  inputSummary: { metadata: { hook: string; result: string } }
  outputSummary: { status: number }
}
const recorded = async (person: Person, action: string): Promise<Recorded[]> =>
  (await person.send('GET', `audit?limit=100&action=${action}`)).body
const conversations = async (person: Person) => (await person.send('GET', 'conversations')).body.conversations

/** Runs that were there before, in a process that is gone. */
function wrote(where: World, { userId }: Person, { count, ...row }: Partial<SkillRunRow> & { count: number }) {
  const runs = Array.from({ length: count }, () => ({
    id: SkillRunId.create(),
    owner: `user:${userId}` as const,
    user_id: userId,
    skill_id: SkillId.create(),
    slug: 'gone',
    cause: 'install' as const,
    status: 'running' as const,
    cost_micro: 0,
    created_at: where.clock.now(),
    ...row,
  }))
  return where.app.store.write((tx) => tx.insert(tx.of(table)).values(runs as SkillRunRow[]))
}

describe('the prompts of a skill’s hooks', () => {
  test('run once when it is installed and once when it is removed, and their answers are kept', async () => {
    const ada = await world.person()
    const made = await published({ hooks })
    // Anyone who installs it pays for what it runs, so they can see that it does.
    expect((await ada.send('GET', `skills/${made.skillId}`)).body.hooks).toEqual(['onInstall', 'onUninstall'])
    expect((await install(ada, made)).status).toBe(201)
    expect((await install(ada, made)).status).toBe(200)
    expect(await ran(ada)).toMatchObject([{ hook: 'onInstall', slug: made.slug, status: 200, result: 'completed' }])
    expect((await conversations(ada)).map(({ lastMessage }: never) => lastMessage)).toEqual([
      expect.stringContaining('42'),
    ])
    await uninstall(ada, made)
    expect((await ran(ada)).map(({ hook }) => hook)).toEqual(['onInstall', 'onUninstall'])
    expect((await conversations(ada))[0].lastMessage).toContain('81')
  })

  test('do not run where there is none, for what is switched off, or for what is suspended', async () => {
    const ada = await world.person()
    const plain = await published({})
    const off = await published({ hooks: { onUninstall: 'Say goodbye.' } })
    const down = await published({ hooks: { onUninstall: 'Say goodbye.' } })
    for (const made of [plain, off, down]) await install(ada, made)
    await ada.send('PATCH', `skills/${off.skillId}/installation`, { enabled: false })
    await admin.decide(down.id, 'suspend', 'It broke the rules.')
    for (const made of [plain, off, down]) expect((await uninstall(ada, made)).status).toBe(200)
    expect(await ran(ada)).toEqual([])
  })

  test('bring their skill alone: its knowledge and its tools, none of ours, nothing else that is installed', async () => {
    const ada = await world.person()
    const other = await published({ tools: [{ name: 'other_tool', description: 'Other.' }] })
    const made = await published({
      hooks: { onInstall: 'What is the weather in Paris?' },
      tools: [
        {
          name: 'get_weather',
          description: 'Gets the weather for a location.',
          inputSchema: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
        },
      ],
    })
    await install(ada, other)
    await install(ada, made)
    await runHooks()
    expect(await recorded(ada, 'completion.created')).toMatchObject([
      { outputSummary: { tools_used: ['get_weather'] }, inputSummary: { skills: [made.skillId] } },
    ])
  })

  test('are recorded as what the installer did, under a request of their own', async () => {
    const ada = await world.person()
    const { body } = await install(ada, await published({ hooks }))
    await runHooks()
    const [completion] = await recorded(ada, 'completion.created')
    expect(completion).toMatchObject({ apiKeyId: ada.keyId, inputSummary: { endpoint: '/skills' } })
    expect(completion?.requestId).not.toBe(body.request_id)
  })

  test('stop at fifty a day, and go on the day after', async () => {
    const clock = fakeClock('2030-01-01T12:00:00.000Z')
    const other = await createWorld({ clock })
    const person = await other.person()
    const made = await submit(await other.person(), manifest({ hooks: { onInstall: 'What is 1 plus 1?' } }))
    await (await reviewer(other)).decide(made.id, 'approve')
    const results = async () => (await ran(person, other)).map(({ result }) => result)
    await wrote(other, person, { count: 49, status: 'completed' })
    for (let time = 0; time < 2; time++) {
      await install(person, made)
      await runHooks(other)
      await uninstall(person, made)
    }
    expect(await results()).toEqual(['completed', 'skipped_cap'])
    clock.advance(12 * 60 * 60_000)
    await install(person, made)
    expect((await results()).at(-1)).toBe('completed')
  })

  test('stop when what ran and what runs may have come to five dollars in a day', async () => {
    const ada = await world.person()
    const made = await published({ hooks })
    await wrote(world, ada, { count: 9, status: 'completed', cost_micro: LIMITS.costARun })
    await wrote(world, ada, { count: 1, status: 'running' })
    await install(ada, made)
    expect(await ran(ada)).toMatchObject([{ result: 'skipped_cap', status: 402 }])
  })

  test('without credit are skipped, and say so', async () => {
    const ada = await world.person({ cents: 0 })
    await install(ada, await published({ hooks }))
    expect(await ran(ada)).toMatchObject([{ result: 'skipped_credits', status: 402 }])
  })

  test('that a crash cut off are over, and never begun again', async () => {
    const clock = fakeClock('2030-01-01T12:00:00.000Z')
    const other = await createWorld({ clock })
    const person = await other.person()
    const made = await submit(await other.person(), manifest({ hooks }))
    await (await reviewer(other)).decide(made.id, 'approve')
    await install(person, made)
    await other.app.store.write((tx) => {
      const t = tx.of(jobs)
      const lease = { state: 'active' as const, turn: null, node: 'gone', attempts: 1, lease_until: clock.now() + 1 }
      return tx.update(t).set(lease).where(eq(t.kind, 'skills.hook'))
    })
    clock.advance(1)
    expect(await runHooks(other)).toBe(0)
    expect(await ran(person, other)).toMatchObject([{ result: 'failed', status: 500 }])
    expect(await conversations(person)).toEqual([])
  })
})
