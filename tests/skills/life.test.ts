import { describe, expect, test } from 'bun:test'
import { isHigher } from '../../src/skills/review/checks'
import { createWorld, type Person } from '../support/world'
import { manifest, reviewer, securityManifest, staffManifest, submit } from './support'

const world = await createWorld()
const admin = await reviewer(world)
const STATES = ['approved', 'pending_review', 'rejected', 'suspended', 'withdrawn'] as const
const MOVES = ['approve', 'reject', 'withdraw', 'suspend', 'reinstate'] as const

/** The table of docs/api.md 8.2: from a state, by a move, to a state. Whatever is not here is refused. */
const TABLE: Record<string, string> = {
  'pending_review approve': 'approved',
  'pending_review reject': 'rejected',
  'pending_review withdraw': 'withdrawn',
  'approved suspend': 'suspended',
  'suspended reinstate': 'approved',
}

/** A submission of its own author in a state. */
async function inState(state: (typeof STATES)[number]) {
  const ada = await world.person()
  const made = await submit(ada, staffManifest())
  const act = (move: string) =>
    move === 'withdraw' ? ada.send('DELETE', `skills/submissions/${made.id}`) : admin.decide(made.id, move, 'because')
  const path = {
    approved: ['approve'],
    rejected: ['reject'],
    withdrawn: ['withdraw'],
    suspended: ['approve', 'suspend'],
  }
  for (const move of state === 'pending_review' ? [] : path[state]) await act(move)
  return { ada, ...made, act }
}

describe('the life of a submission', () => {
  test.each(STATES.flatMap((state) => MOVES.map((move) => [state, move] as const)))('%s, %s', async (state, move) => {
    const { ada, id, act } = await inState(state)
    const to = TABLE[`${state} ${move}`]
    expect(await act(move)).toMatchObject(
      to
        ? { status: 200, body: { submission: { status: to } } }
        : { status: 409, body: { error: { code: 'conflict' } } },
    )
    expect((await ada.send('GET', `skills/submissions/${id}`)).body.submission.status).toBe(to ?? state)
  })

  test('of twenty decisions at once one counts', async () => {
    const { id } = await inState('pending_review')
    const moves = Array.from({ length: 20 }, (_, at) => (at % 2 ? 'approve' : 'reject'))
    const replies = await Promise.all(moves.map((move) => admin.decide(id, move, 'because')))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(19)
  })

  test('each move is on the record of the author and tells who listens', async () => {
    const heard: string[] = []
    for (const { container } of world.nodes) container.events.afterCommit('*', ({ type }) => void heard.push(type))
    const { ada, id, act } = await inState('approved')
    await act('suspend')
    await act('reinstate')
    const { body } = await ada.send('GET', `audit?entity_id=${id}`)
    const actions = ['skill.approved', 'skill.suspended', 'skill.approved', 'skill.submitted']
    expect(body.map(({ action }: { action: string }) => action)).toEqual(actions)
    expect(heard.filter((type) => type.startsWith('skill.'))).toEqual(actions.toReversed().with(0, 'skill.submitted'))
  })

  test.each([
    ['a key', async () => (await world.person()).send],
    ['an author of the skill', null],
    ['a plain reviewer, for tier security', async () => (await reviewer(world, 'reviewer')).send],
  ] as const)('is not decided by %s', async (_, sender) => {
    const ada = await world.person()
    const { id } = await submit(ada, securityManifest())
    const send = sender ? await sender() : ada.send
    const reply = await send('POST', `skills/submissions/${id}/review`, { decision: 'approve' })
    expect({ status: reply.status, code: reply.body.error.code }).toEqual({ status: 403, code: 'forbidden' })
  })

  test('a reviewer decides on tier staff, a security reviewer on both', async () => {
    const ada = await world.person()
    const [plain, security] = [await reviewer(world, 'reviewer'), await reviewer(world, 'security_reviewer')]
    const [staff, secure] = [await submit(ada, staffManifest()), await submit(ada, securityManifest())]
    expect((await plain.decide(staff.id, 'approve')).status).toBe(200)
    expect((await security.decide(secure.id, 'approve')).status).toBe(200)
  })
})

describe('a new version', () => {
  test('that asks for more is reviewed again, and those who have the skill keep the old one (L7)', async () => {
    const [ada, bob] = [await world.person(), await world.person()]
    const first = await submit(ada, manifest())
    await bob.send('POST', 'skills', { skillId: first.skillId })
    const next = { slug: first.slug, version: '1.1.0', systemPromptExtension: 'New words.' }
    const second = await submit(ada, securityManifest(next), { skill_id: first.skillId })
    expect(second.reply.body.submission).toMatchObject({ status: 'pending_review', reviewTier: 'security' })
    const seenBy = async () => (await bob.send('GET', `skills/${first.skillId}`)).body
    expect(await seenBy()).toMatchObject({ version: '1.0.0', declaredPermissions: [], reviewStatus: 'approved' })
    await admin.decide(second.id, 'approve')
    expect(await seenBy()).toMatchObject({ version: '1.1.0', declaredPermissions: next ? expect.any(Array) : [] })
    const { versions } = (await bob.send('GET', `skills/${first.skillId}/versions`)).body
    expect(versions.map(({ version, status }: Record<string, string>) => [version, status])).toEqual([
      ['1.1.0', 'active'],
      ['1.0.0', 'superseded'],
    ])
  })

  test.each(['1.0.0', '0.9.9', '1.0.0-rc.1', '1.0.0+build.7'])('of %s is not higher than 1.0.0', async (version) => {
    const ada = await world.person()
    const { skillId, slug } = await submit(ada, manifest())
    const { reply } = await submit(ada, manifest({ slug, version }), { skill_id: skillId })
    expect(reply.status).toBe(422)
    expect(reply.body.review.checks.version).toContain('must be higher than 1.0.0')
  })

  test('takes the place of one that waits', async () => {
    const ada = await world.person()
    const { id, skillId, slug } = await submit(ada, staffManifest())
    await submit(ada, staffManifest({ slug, version: '1.0.1' }), { skill_id: skillId })
    expect((await ada.send('GET', `skills/submissions/${id}`)).body.submission.status).toBe('withdrawn')
  })

  test("of somebody else's skill is 404, and of a suspended one 409", async () => {
    const { ada, skillId, slug } = await inState('suspended')
    const stranger = await world.person()
    expect((await submit(stranger, manifest({ slug, version: '2.0.0' }), { skill_id: skillId })).reply.status).toBe(404)
    expect((await submit(ada, manifest({ slug, version: '2.0.0' }), { skill_id: skillId })).reply.status).toBe(409)
  })

  test('the eleventh submission in a day is 429 with the time to wait', async () => {
    const ada = await world.person()
    for (let at = 0; at < 10; at++) expect((await submit(ada, manifest())).reply.status).toBe(201)
    const { reply } = await submit(ada, manifest())
    expect({ status: reply.status, code: reply.body.error.code }).toEqual({ status: 429, code: 'rate_limit_exceeded' })
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(86_000)
  })

  test('and deleting what was submitted buys no more of them, nor is any of it seen again', async () => {
    const ada = await world.person()
    for (let at = 0; at < 10; at++) {
      const { id, skillId } = await submit(ada, staffManifest(), { visibility: 'private' })
      expect((await ada.send('DELETE', `skills/${skillId}`)).status).toBe(200)
      expect((await ada.send('GET', `skills/submissions/${id}`)).status).toBe(404)
      expect((await admin.decide(id, 'approve')).status).toBe(404)
    }
    expect((await ada.send('GET', 'skills/submissions')).body.submissions).toEqual([])
    expect((await submit(ada, manifest())).reply.status).toBe(429)
  })
})

describe('what a reviewer reads is what is approved', () => {
  test('a private skill is not rewritten while a version of it waits', async () => {
    const ada = await world.person()
    const { skillId, slug } = await submit(ada, manifest(), { visibility: 'private' })
    const change = { system_prompt_ext: 'Nobody read this.' }
    const wider = { skill_id: skillId, visibility: 'public' }
    const next = await submit(ada, staffManifest({ slug, version: '2.0.0' }), wider)
    const refused = await ada.send('PATCH', `skills/${skillId}`, change)
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 409, code: 'conflict' })
    await admin.decide(next.id, 'approve')
    const { systemPromptExt } = (await ada.send('GET', `skills/${skillId}`)).body
    expect(systemPromptExt).toBe(staffManifest().systemPromptExtension)
    expect((await ada.send('PATCH', `skills/${skillId}`, change)).status).toBe(409)
  })

  test('and may be once that was withdrawn', async () => {
    const ada = await world.person()
    const { skillId, slug } = await submit(ada, manifest(), { visibility: 'private' })
    const { id } = await submit(ada, staffManifest({ slug, version: '2.0.0' }), { skill_id: skillId })
    await ada.send('DELETE', `skills/submissions/${id}`)
    expect((await ada.send('PATCH', `skills/${skillId}`, { system_prompt_ext: 'Mine.' })).status).toBe(200)
  })

  test('a takedown survives deleting and recreating the skill', async () => {
    const ada = await world.person()
    const { id, skillId } = await submit(ada, manifest(), { visibility: 'private' })
    await admin.decide(id, 'suspend')
    expect((await ada.send('DELETE', `skills/${skillId}`)).status).toBe(409)
    await admin.decide(id, 'reinstate')
    expect((await ada.send('DELETE', `skills/${skillId}`)).status).toBe(200)
  })
})

describe('drafts', () => {
  test('are no way to take every slug there is', async () => {
    const ada = await world.person()
    const draft = (at: number) => {
      const members = { name: 'A', category: 'domain', system_prompt_ext: 'Help.' }
      return ada.send('POST', 'skills/create', { ...members, slug: `good-name-${at}` })
    }
    for (let at = 0; at < 200; at++) expect((await draft(at)).status).toBe(201)
    const refused = await draft(200)
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 409, code: 'conflict' })
    await ada.send('DELETE', 'skills/good-name-0')
    expect((await draft(200)).status).toBe(201)
  })

  test('a skill for an org says whose it is', async () => {
    const { reply } = await submit(await world.person(), manifest(), { visibility: 'org' })
    expect({ status: reply.status, param: reply.body.error.param }).toEqual({ status: 400, param: 'target_org_id' })
  })
})

describe('whom a new version is for', () => {
  test('is whom the one before it was for, so that nothing private is published by leaving something out', async () => {
    const [ada, bob] = [await world.person(), await world.person()]
    const { slug, skillId } = await submit(ada, manifest(), { visibility: 'private' })
    expect((await submit(ada, manifest({ slug, version: '1.1.0' }), { skill_id: skillId })).reply.status).toBe(201)
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

test('changing by hand: nothing is 400, and leaves what is in force in force', async () => {
  const ada = await world.person()
  const { skillId } = await submit(ada, manifest(), { visibility: 'private' })
  for (const body of [{}, { colour: 'red' }]) {
    const reply = await ada.send('PATCH', `skills/${skillId}`, body)
    expect({ status: reply.status, code: reply.body.error.code }).toEqual({ status: 400, code: 'validation_error' })
  }
  expect((await ada.send('GET', `skills/${skillId}`)).body.reviewStatus).toBe('approved')
})

test('of what happens at the same moment one thing counts: deciding, withdrawing, deleting and replacing what waits', async () => {
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

test.each([
  ['1.0.0', '1.0.0-rc.1'],
  ['1.0.0-rc.10', '1.0.0-rc.9'],
  ['1.0.0-rc.99999999999999999999', '1.0.0-rc.99999999999999999998'],
  ['1.0.0-beta', '1.0.0-9'],
  ['1.0.0-beta.1', '1.0.0-beta'],
])('the order of versions is that of semver: %s comes after %s', (later, earlier) => {
  expect(isHigher(later, earlier)).toBe(true)
  expect(isHigher(earlier, later)).toBe(false)
})

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
