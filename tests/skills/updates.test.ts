import { describe, expect, test } from 'bun:test'
import { isHigher } from '../../src/skills/review/version'
import { createWorld } from '../support/world'
import { manifest, reviewer, staffManifest, submit } from './support'

const world = await createWorld()
const admin = await reviewer(world)

describe('whom a new version is for', () => {
  test('is whom the one before it was for, so that nothing private is published by leaving something out', async () => {
    const [ada, bob] = [await world.person(), await world.person()]
    const { slug, skillId } = await submit(ada, manifest(), { visibility: 'private' })
    const next = await submit(ada, manifest({ slug, version: '1.1.0' }), { skill_id: skillId })
    expect(next.reply.status).toBe(201)
    expect((await ada.send('GET', `skills/${skillId}`)).body).toMatchObject({ version: '1.1.0', visibility: 'private' })
    expect((await bob.send('GET', `skills/${skillId}`)).status).toBe(404)
  })

  test('of an org stays that org, and is another when it says so', async () => {
    const ada = await world.person()
    const org = (await ada.send('POST', 'orgs', { name: 'Readers' })).body.id
    const { slug, skillId } = await submit(ada, manifest(), { visibility: 'org', target_org_id: org })
    await submit(ada, manifest({ slug, version: '1.1.0' }), { skill_id: skillId })
    const seen = async () => (await ada.send('GET', `skills/${skillId}`)).body
    expect(await seen()).toMatchObject({ version: '1.1.0', visibility: 'org', orgScopeId: org })
    await submit(ada, manifest({ slug, version: '1.2.0' }), { skill_id: skillId, visibility: 'public' })
    expect(await seen()).toMatchObject({ version: '1.2.0', visibility: 'public', orgScopeId: null })
  })

  test('is everyone where a draft is submitted that only its author ever had', async () => {
    const [ada, bob] = [await world.person(), await world.person()]
    const members = { name: 'Draft', slug: 'from-draft', category: 'domain', system_prompt_ext: 'Help with tides.' }
    const { id } = (await ada.send('POST', 'skills/create', members)).body.skill
    const { reply } = await submit(ada, manifest({ slug: 'from-draft' }), { skill_id: id })
    expect(reply.status).toBe(201)
    expect(reply.body.submission?.manifestVersion).toBe('1.0.0')
    expect((await bob.send('GET', `skills/${id}`)).body).toMatchObject({ visibility: 'public', version: '1.0.0' })
  })
})

describe('changing by hand', () => {
  test('nothing is 400, and leaves what is in force in force', async () => {
    const ada = await world.person()
    const { skillId } = await submit(ada, manifest(), { visibility: 'private' })
    for (const body of [{}, { colour: 'red' }]) {
      const reply = await ada.send('PATCH', `skills/${skillId}`, body)
      expect({ status: reply.status, code: reply.body.error.code }).toEqual({ status: 400, code: 'validation_error' })
    }
    expect((await ada.send('GET', `skills/${skillId}`)).body.reviewStatus).toBe('approved')
  })
})

describe('of what happens at the same moment one thing counts', () => {
  test('deciding, withdrawing, deleting and replacing what waits', async () => {
    for (let round = 0; round < 6; round++) {
      const ada = await world.person()
      const { id, skillId, slug } = await submit(ada, staffManifest())
      const replies = await Promise.all([
        admin.decide(id, 'approve'),
        admin.decide(id, 'reject', 'because'),
        ada.send('DELETE', `skills/submissions/${id}`),
        ada.send('DELETE', `skills/${skillId}`),
        ada.send('PATCH', `skills/${skillId}`, { name: 'Other' }),
        submit(ada, staffManifest({ slug, version: '1.0.1' }), { skill_id: skillId }).then(({ reply }) => reply),
        ada.send('POST', 'skills', { skillId }),
        ada.send('DELETE', 'skills', { skillId }),
      ])
      for (const { status, text } of replies) expect([200, 201, 404, 409], text).toContain(status)
      const skill = await ada.send('GET', `skills/${skillId}`)
      const own = (await ada.send('GET', 'skills/submissions')).body.submissions
      if (skill.status === 404) expect(own).toEqual([])
      else {
        const states = own.map(({ status }: { status: string }) => status)
        expect(states.includes('pending_review')).toBe(
          skill.body.reviewStatus === 'pending_review' || (skill.body.reviewStatus === 'approved' && states.length > 1),
        )
      }
      const { skills } = (await ada.send('GET', 'skills?filter=installed')).body
      if (skill.status === 404) expect(skills).toEqual([])
    }
  })
})

describe('the order of versions is that of semver', () => {
  test.each([
    ['1.0.0', '1.0.0-rc.1'],
    ['1.0.0-rc.10', '1.0.0-rc.9'],
    ['1.0.0-rc.99999999999999999999', '1.0.0-rc.99999999999999999998'],
    ['1.0.0-beta', '1.0.0-9'],
    ['1.0.0-beta.1', '1.0.0-beta'],
  ])('%s comes after %s', (later, earlier) => {
    expect(isHigher(later, earlier)).toBe(true)
    expect(isHigher(earlier, later)).toBe(false)
  })
})
