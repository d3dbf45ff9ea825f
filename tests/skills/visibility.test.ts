import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { canvases, canvasVersions } from '../../src/automation/table'
import { skillInstallations, skills } from '../../src/skills/table'
import { createTeam, emailOf, issueInvitation } from '../accounts/orgs/team'
import { canvasOf } from '../automation/canvases/world'
import { createWorld, type Person } from '../support/world'
import { manifest, reviewer, staffManifest, submit } from './support'

const world = await createWorld()
const admin = await reviewer(world)
const [owner, stranger, member] = [await world.person(), await world.person(), await world.person()]
const org = (await owner.send('POST', 'orgs', { name: 'Readers' })).body.id as string
const { token } = await issueInvitation(world, org as never, await emailOf(world, member))
await member.send('POST', `invitations/${token}/accept`)

const PEOPLE: Record<string, Person> = { owner, member, stranger }
const VISIBILITIES = ['private', 'org', 'public'] as const
const STATES = ['pending', 'approved', 'suspended'] as const

const maySee = (who: string, visibility: string, state: string): boolean => {
  if (who === 'owner') return true
  if (state !== 'approved' || visibility === 'private') return false
  return visibility === 'public' || who === 'member'
}

const made = new Map<string, { skillId: string; slug: string }>()
for (const visibility of VISIBILITIES) {
  for (const state of STATES) {
    const rest = { visibility, ...(visibility === 'org' ? { target_org_id: org } : {}) }
    const submission = await submit(owner, staffManifest(), rest)
    if (state !== 'pending') await admin.decide(submission.id, 'approve')
    if (state === 'suspended') await admin.decide(submission.id, 'suspend')
    made.set(`${visibility} ${state}`, submission)
  }
}

describe('who sees a skill', () => {
  const cells = Object.keys(PEOPLE).flatMap((who) =>
    VISIBILITIES.flatMap((visibility) => STATES.map((state) => [who, visibility, state] as const)),
  )

  test.each(cells)('%s, %s, %s', async (who, visibility, state) => {
    const { skillId, slug } = made.get(`${visibility} ${state}`)!
    const person = PEOPLE[who]!
    const sees = maySee(who, visibility, state)
    const status = sees ? 200 : 404
    for (const path of [
      `skills/${skillId}`,
      `skills/${slug}`,
      `skills/${skillId}/versions`,
      `skills/${skillId}/reviews`,
    ]) {
      expect({ path, status: (await person.send('GET', path)).status }).toEqual({ path, status })
    }
    const whole = (await person.send('GET', `skills/${skillId}`)).body
    expect('systemPromptExt' in whole).toBe(who === 'owner')
    const listed = (await person.send('GET', `skills?q=${slug.replaceAll('-', ' ')}`)).body.skills
    const inStore = state === 'approved' && sees && visibility !== 'private'
    expect(listed.some(({ id }: { id: string }) => id === skillId)).toBe(inStore)
    const { activeFor } = world.app.container.skills
    const { skills, warnings } = await activeFor(world.callAs(person), { slugs: [slug], prompt: 'hi' })
    const runs = sees && state !== 'suspended'
    expect(skills.map(({ slug: active }) => active)).toEqual(runs ? [slug] : [])
    expect(warnings).toHaveLength(runs ? 0 : 1)
    expect((await person.send('POST', 'skills', { skillId })).status).toBe(runs ? 201 : 404)
    if (runs) await person.send('DELETE', 'skills', { skillId })
  })

  test('the org of a skill is one its author belongs to', async () => {
    const { reply } = await submit(stranger, staffManifest(), { visibility: 'org', target_org_id: org })
    expect({ status: reply.status, code: reply.body.error.code }).toEqual({ status: 403, code: 'forbidden' })
    expect((await submit(owner, staffManifest(), { visibility: 'org' })).reply.status).toBe(400)
  })

  test('changing and deleting are the author’s: 403 for who sees it, 404 for who does not, 409 once it is out', async () => {
    const shared = made.get('public approved')!.skillId
    const hidden = made.get('private approved')!.skillId
    const codes = async (person: Person, id: string) =>
      [await person.send('PATCH', `skills/${id}`, { name: 'x' }), await person.send('DELETE', `skills/${id}`)].map(
        ({ status }) => status,
      )
    expect(await codes(stranger, shared)).toEqual([403, 403])
    expect(await codes(stranger, hidden)).toEqual([404, 404])
    expect(await codes(owner, shared)).toEqual([409, 409])
  })
})

const { read } = world.app.store

async function countOf(table: typeof canvases | typeof skillInstallations | typeof skills, owner: string) {
  const one = read.of(table as typeof canvases)
  return (
    await read
      .select({ id: one.id })
      .from(one)
      .where(eq(one.owner, owner as never))
  ).length
}
const versions = async () => (await read.select().from(read.of(canvasVersions))).length
const publish = (person: Pick<Person, 'send'>, id: string, slug: string, visibility: string) =>
  person.send('POST', `evi/canvases/${id}/publish`, { slug, version: '1.0.0', author: { name: 'Ada' }, visibility })

test('when an org is deleted its canvases, its installations and what only it could see are gone; what is public stays', async () => {
  const team = await createTeam(world)
  const [orgKey, ada] = [await team.orgKey(team.owner), await world.person()]
  const owner = `org:${team.id}`
  const installed = await submit(ada, manifest())
  await orgKey.send('POST', 'skills', { skillId: installed.skillId })
  expect((await publish(orgKey, await canvasOf(orgKey), 'acme-private', 'private')).status).toBe(200)
  const open = await submit(orgKey, manifest())
  const closed = await submit(orgKey, manifest(), { visibility: 'org', target_org_id: team.id })
  const [mine, stored] = [await canvasOf(ada), await versions()]
  expect(await countOf(canvases, owner)).toBe(1)
  expect(await countOf(skills, owner)).toBe(3)
  expect(stored).toBe(1)
  const installs = async () => (await ada.send('GET', `skills/${installed.slug}`)).body.installCount
  expect(await installs()).toBe(1)

  expect((await team.owner.send('DELETE', `orgs/${team.id}`)).status).toBe(200)
  expect(await countOf(canvases, owner)).toBe(0)
  expect(await versions()).toBe(0)
  expect(await countOf(skillInstallations, owner)).toBe(0)
  expect(await installs()).toBe(0)
  expect((await ada.send('GET', `skills/${open.slug}`)).status).toBe(200)
  expect(await countOf(skills, owner)).toBe(1)
  expect((await submit(ada, manifest({ slug: closed.slug }))).reply.status).toBe(201)
  expect((await ada.send('GET', `evi/canvases/${mine}`)).status).toBe(200)
})

test('the record tells the status of whatever was answered, for routes with two answers too', async () => {
  const ada = await world.person()
  const { skillId } = await submit(await world.person(), manifest())
  await ada.send('POST', 'skills', { skillId })
  await ada.send('PATCH', `skills/${skillId}/installation`, { priority: 2 })
  await ada.send('POST', `skills/${skillId}/reviews`, { rating: 5 })
  await ada.send('DELETE', 'skills', { skillId })
  await submit(ada, manifest())
  await ada.send('POST', 'skills/sandbox', { skill_id: skillId, prompt: 'Hello' })
  const draft = { name: 'A', slug: 'a-draft', category: 'creative', system_prompt_ext: 'Be kind.' }
  await ada.send('POST', 'skills/create', draft)
  const canvas = await canvasOf(ada)
  for (const verb of ['compile', 'test']) await ada.send('POST', `evi/canvases/${canvas}/${verb}`, { message: 'Hi' })
  await publish(ada, canvas, 'a-canvas', 'public')
  const notice = (await ada.send('GET', 'audit?limit=100')).body.map((event: never) => {
    const { action, outputSummary } = event as { action: string; outputSummary: { status?: number } }
    return `${action} ${outputSummary.status}`
  })
  expect(notice.filter((line: string) => !line.startsWith('key.')).sort()).toEqual(
    [
      'skill.installed 201',
      'skill.updated 200',
      'skill.reviewed 201',
      'skill.uninstalled 200',
      'skill.submitted 201',
      'skill.approved 201',
      'skill.tested 200',
      'skill.created 201',
      'canvas.created 201',
      'canvas.compiled 200',
      'canvas.tested 200',
      'completion.created 200',
      'canvas.published 200',
      'skill.submitted 200',
      'skill.approved 200',
    ].sort(),
  )
})
