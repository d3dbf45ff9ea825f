import { describe, expect, test } from 'bun:test'
import { keyRepository as keys } from '../../src/accounts/keys/repository'
import { orgRepository as orgs } from '../../src/accounts/orgs/repository'
import { versionsOf } from '../../src/automation/canvases'
import { canvas } from '../../src/automation/resource'
import { guardrailPolicy } from '../../src/guardrails/resource'
import type { OwnerScope } from '../../src/kernel/caller'
import type { OrgId, UserId } from '../../src/kernel/ids'
import { encodeCursor } from '../../src/kernel/page'
import type { Reader } from '../../src/kernel/store'
import { listIncreases } from '../../src/limits/increases'
import { correctionRepository as corrections } from '../../src/routing/corrections'
import { routingPreference } from '../../src/routing/resource'
import { listMemories } from '../../src/skills/conversations/memory'
import { conversationRepository as conversations } from '../../src/skills/conversations/table'
import { skillRepository as skills, submissionRepository as submissions } from '../../src/skills/repository'
import { installRepository as installs } from '../../src/skills/repository-installs'
import type { SkillSort } from '../../src/skills/schema'
import { searchSkills } from '../../src/skills/search'
import { openPlanner } from '../support/planner'
import { postgresUrl } from '../support/store'

const [policies, preferences] = [guardrailPolicy.rows, routingPreference.rows]
const { planOf } = await openPlanner()

const [me, other] = ['user:u', 'org:o'] as OwnerScope[] as [OwnerScope, OwnerScope]
const [userId, orgId] = ['u' as UserId, 'o' as OrgId]
const first = { limit: 100 }
const later = (list: string) => ({ limit: 100, cursor: encodeCursor(list, { at: 1_700_000_000_000, id: 'm' }) })
const sorted = (sort: SkillSort) => ({ words: null, sort })
const after = { at: 5, id: '50' }
const ada = { name: 'ada', now: 1 }

type List = [name: string, index: string | RegExp, ask: (db: Reader) => PromiseLike<unknown>]

const OPERATORS: List[] = [
  ['orgs', 'orgs_by_age', (db) => orgs.all(db, first)],
  ['orgs, a later page', 'orgs_by_age', (db) => orgs.all(db, later('orgs.created_at'))],
  ['users', 'users_by_age', (db) => orgs.allUsers(db, first)],
  ['users, a later page', 'users_by_age', (db) => orgs.allUsers(db, later('users.created_at'))],
  ['the account that was there first', 'users_by_age', (db) => orgs.oldestUser(db)],
  ['keys', 'api_keys_by_age', (db) => keys.search(db, {}, first)],
  [
    'keys in force, a later page',
    'api_keys_by_age',
    (db) => keys.search(db, { liveAt: 1 }, later('api_keys.created_at')),
  ],
  ['keys of an org', 'api_keys_by_org', (db) => keys.search(db, { orgId }, first)],
  ['keys of a user', 'api_keys_by_user', (db) => keys.search(db, { userId }, first)],
  ['keys of a name', 'api_keys_by_name', (db) => keys.search(db, { name: 'n', liveAt: 1 }, first)],
  ['skills', /SCAN skills$|skills_pkey/, (db) => skills.all(db, first)],
  ['skills, a later page', /INTEGER PRIMARY KEY|skills_pkey/, (db) => skills.all(db, later('skills.seq'))],
  ['skills of a state', 'skills_by_status', (db) => skills.all(db, { ...first, status: 'suspended' })],
  ['skills of an owner', 'skills_by_owner', (db) => skills.all(db, { ...first, owner: me })],
  ['an owner’s of a state', 'skills_by_owner', (db) => skills.all(db, { ...first, owner: me, status: 'approved' })],
  ['submissions', 'skill_submissions_by_age', (db) => submissions.list(db, {}, first)],
  [
    'submissions, a later page',
    'skill_submissions_by_age',
    (db) => submissions.list(db, {}, later('skill_submissions.created_at')),
  ],
  [
    'submissions that wait',
    'skill_submissions_by_status',
    (db) => submissions.list(db, { status: 'pending_review' }, first),
  ],
  ['policies', 'guardrail_policies_by_age', (db) => policies.list(db, 'everyone', first)],
  ['canvases', 'canvases_by_age', (db) => canvas.rows.list(db, 'everyone', later('canvases.updated_at'))],
  [
    'preferences',
    'routing_preferences_by_age',
    (db) => preferences.list(db, 'everyone', later('routing_preferences.created_at')),
  ],
  ['limit increases', 'limit_increases_by_age', (db) => listIncreases(db, first)],
  [
    'limit increases that wait',
    'limit_increases_by_status',
    (db) => listIncreases(db, { ...later('limit_increases.created_at'), status: 'pending' }),
  ],
]

const TENANTS: List[] = [
  ['orgs', 'members_by_user', (db) => orgs.pageOfOrgs(db, userId, null, first)],
  ['orgs, a later page', 'members_by_user', (db) => orgs.pageOfOrgs(db, userId, null, later('members.org_created_at'))],
  ['personal keys', 'api_keys_by_user', (db) => keys.list(db, { userId, orgIds: [] }, later('api_keys.created_at'))],
  [
    'keys of an org',
    'api_keys_by_org',
    (db) => keys.list(db, { userId: null, orgIds: [orgId] }, later('api_keys.created_at')),
  ],
  ['skills of one’s own', 'skills_by_owner', (db) => searchSkills(db, { owner: me }, sorted('newest'), after, 9)],
  [
    'skills of one’s own by installs',
    'skills_by_owner_installs',
    (db) => searchSkills(db, { owner: me }, sorted('installs'), after, 9),
  ],
  [
    'skills of one’s own by rating',
    'skills_by_owner_rating',
    (db) => searchSkills(db, { owner: me }, sorted('rating'), null, 9),
  ],
  ['skills of an org', 'skills_of_org', (db) => searchSkills(db, { orgIds: [orgId] }, sorted('newest'), after, 9)],
  [
    'skills of an org by installs',
    'skills_of_org_by_installs',
    (db) => searchSkills(db, { orgIds: [orgId] }, sorted('installs'), null, 9),
  ],
  [
    'skills of an org by rating',
    'skills_of_org_by_rating',
    (db) => searchSkills(db, { orgIds: [orgId] }, sorted('rating'), after, 9),
  ],
  ['the store', 'skills_by_installs', (db) => searchSkills(db, { listed: true }, sorted('installs'), after, 9)],
  ['versions of a skill', 'skill_versions_by_skill', (db) => skills.versions(db, 's' as never)],
  ['installed skills', 'skill_installations_by_age', (db) => installs.list(db, me, first)],
  [
    'installed skills, a later page',
    'skill_installations_by_age',
    (db) => installs.list(db, me, later('skill_installations.installed_at')),
  ],
  [
    'ratings of a skill',
    'skill_reviews_by_skill',
    (db) => installs.ratings(db, 's' as never, later('skill_reviews.created_at')),
  ],
  [
    'submissions',
    'skill_submissions_by_owner',
    (db) => submissions.list(db, { owner: me }, later('skill_submissions.created_at')),
  ],
  [
    'submissions of a state',
    'skill_submissions_by_owner_status',
    (db) => submissions.list(db, { owner: me, status: 'approved' }, first),
  ],
  ['policies', 'guardrail_policies_by_owner', (db) => policies.list(db, [me], later('guardrail_policies.created_at'))],
  ['preferences', 'routing_preferences_by_owner', (db) => preferences.list(db, [me], first)],
  [
    'corrections',
    'routing_corrections_by_owner',
    (db) => corrections.list(db, me, later('routing_corrections.created_at')),
  ],
  [
    'corrections of a mode',
    'routing_corrections_by_mode',
    (db) => corrections.list(db, me, { mode: 'code', ...later('routing_corrections.created_at') }),
  ],
  ['conversations', 'conversations_by_owner', (db) => conversations.list(db, me, later('conversations.updated_at'))],
  ['memories', 'memories_by_owner', (db) => listMemories(db, me, later('memories.created_at'))],
  ['canvases', 'canvases_by_owner', (db) => canvas.rows.list(db, [me], later('canvases.updated_at'))],
  [
    'versions of a canvas',
    'canvas_versions_by_canvas',
    (db) => versionsOf(db, 'c' as never, later('canvas_versions.created_at')),
  ],
]

/** Lists of two owners each. */
const TOGETHER: List[] = [
  [
    'keys',
    /api_keys_by_user\b.*api_keys_by_org\b/s,
    (db) => keys.list(db, { userId, orgIds: [orgId] }, later('api_keys.created_at')),
  ],
  ['skills of orgs', /(skills_of_org_by_installs\b.*){2}/s, (db) => ofOrgs(db, 'installs')],
  ['policies', /(guardrail_policies_by_owner\b.*){2}/s, (db) => policies.list(db, [me, other], first)],
  [
    'preferences',
    /(routing_preferences_by_owner\b.*){2}/s,
    (db) => preferences.list(db, [me, other], later('routing_preferences.created_at')),
  ],
]

const ofOrgs = (db: Reader, sort: SkillSort) =>
  searchSkills(db, { orgIds: [orgId, 'p' as OrgId] }, sorted(sort), after, 9)

const SORTS = /USE TEMP B-TREE|\bSort\b *\(/g
const READS_ALL = /Seq Scan/

/** Which of several that fit Postgres takes depends on what is in the tables, and these are empty. */
function expectToUse(plan: string, index: string | RegExp): void {
  if (!postgresUrl) expect(plan).toMatch(typeof index === 'string' ? new RegExp(`\\b${index}\\b`) : index)
  expect(plan).not.toMatch(READS_ALL)
}

describe('a page is read from an index that has its order, and nothing is sorted', () => {
  const check = async (_name: string, index: string | RegExp, ask: List[2]) => {
    const plan = await planOf(ask)
    expectToUse(plan, index)
    expect(plan).not.toMatch(SORTS)
  }
  test.each(OPERATORS)('for operators: %s', check)
  test.each(TENANTS)('for tenants: %s', check)
})

test.each(TOGETHER)('a page of several owners’ %s is found page by page, and only that is sorted', async (...list) => {
  const [_name, index, ask] = list
  const plan = await planOf(ask)
  expectToUse(plan, index)
  expect(plan.match(SORTS)?.length ?? 0).toBeLessThanOrEqual(1)
  expect(plan).toMatch(/UNION ALL|Append/)
})

test.each<List>([
  ['a key by the beginning of its secret', 'api_keys_by_prefix', (db) => keys.search(db, { prefix: 'p' }, first)],
  ['what an operator is at', 'skill_submissions_by_claim', (db) => submissions.list(db, { claimedBy: ada }, first)],
  ['how many policies an owner has', 'guardrail_policies_by_owner', (db) => policies.count(db, me)],
  ['an owner’s drafts', /skills_by_owner/, (db) => skills.draftsOf(db, me, 200)],
  ['an open submission of a skill', 'skill_submissions_by_skill', (db) => submissions.pendingOf(db, 's' as never)],
])('%s is found by an index', async (_name, index, ask) => {
  expectToUse(await planOf(ask), index)
})

test('the skills that take part in a run are read in the order they are loaded', async () => {
  expect(await planOf((db) => installs.all(db, me, 200))).not.toMatch(SORTS)
})
