import { describe, expect, test } from 'bun:test'
import { emailOf, issueInvitation } from '../accounts/orgs/team'
import { createWorld, type Person } from '../support/world'
import { reviewer, staffManifest, submit } from './support'

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
