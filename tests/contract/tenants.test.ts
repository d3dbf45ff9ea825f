// Both databases: every route is asked, and each has statements.
import { describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { emailOf, issueInvitation } from '../accounts/orgs/team'
import { simple } from '../automation/canvases/drawing'
import { rowOf as browserRow } from '../browser/support'
import { kindOf as jobKindOf, jobsIn, report } from '../charging/public-jobs/support'
import { batchOf, PIXEL, saveFor, sendFile } from '../files/support'
import { staffManifest, submit } from '../skills/support'
import { createWorld, type Person, type Reply } from '../support/world'
import { routesOf, withId } from './matrix'

const world = await createWorld()
const { accept, define } = jobsIn(world)
const research = define(jobKindOf(report))
/** Only reviewers get past this one: everyone else is 403 whatever the id. */
const REVIEWERS = 'POST /skills/submissions/{id}/review'
const all = (await routesOf(world)).filter(({ isOpen }) => !isOpen)
const routes = all.filter(({ path, name }) => path.includes('{') && name !== REVIEWERS)
const [owner, stranger, colleague] = [await world.person(), await world.person(), await world.person({ ofOrg: true })]

/** One thing of the owner's for each kind of id, made through the API; webhooks are docs/attacks.md D7. */
const OWNED: Record<string, () => Promise<string>> = {
  keys: async () => (await owner.send('POST', 'keys', { name: 'theirs' })).body.id,
  orgs: async () => (await owner.send('POST', 'orgs', { name: 'theirs' })).body.id,
  invitations: async () => {
    const org = (await owner.send('POST', 'orgs', { name: 'inviting' })).body.id
    return (await issueInvitation(world, org, await emailOf(world, await world.person()))).token
  },
  'guardrail-policies': async () => (await owner.send('POST', 'guardrail-policies', { name: 'theirs' })).body.id,
  'routing-preferences': async () => (await owner.send('POST', 'routing-preferences', { name: 'theirs' })).body.id,
  webhooks: async () =>
    (await owner.send('POST', 'webhooks', { url: 'https://203.0.112.7/hook', event_types: ['order.*'] })).body.id,
  hooks: async () => (await owner.send('POST', 'hooks', { hook_preset_id: 'task.overdue.summary' })).body.id,
  iframes: async () => (await owner.send('POST', 'iframes', { api_key_id: owner.keyId })).body.id,
  views: async () => (await owner.send('POST', 'views', VIEW)).body.id,
  'test-cases': async () => (await owner.send('POST', 'test-cases', TEST_CASE)).body.id,
  memory: async () => (await owner.send('POST', 'memory', { content: randomUUID() })).body.memory.id,
  skills: async () =>
    (
      await owner.send('POST', 'skills/create', {
        name: 'theirs',
        slug: `theirs-${randomUUID()}`,
        category: 'domain',
        system_prompt_ext: 'Help.',
      })
    ).body.skill.id,
  submissions: async () => (await submit(owner, staffManifest())).id,
  browser: async () => browserRow(world, owner),
  evi: async () => (await owner.send('POST', 'evi/canvases', { name: 'theirs', graph_json: simple() })).body.canvas.id,
  workflows: async () => (await owner.send('POST', 'workflows', WORKFLOW)).body.workflow.id,
  responses: async () => (await owner.send('POST', 'responses', { input: randomUUID() })).body.id,
  jobs: async () => accept(owner, research),
  documents: async () => (await owner.send('POST', 'documents', { prompt: 'theirs', format: 'csv' })).body.id,
  batches: async () => (await owner.send('POST', 'batches', await batchOf(owner))).body.id,
  files: async () => sendFile(owner),
  artifacts: async () => (await saveFor(world, owner, PIXEL)).id,
  requests: async () => (await owner.send('POST', 'completions', { prompt: randomUUID() })).body.request_id,
  conversations: async () => (await owner.send('POST', 'completions', { prompt: randomUUID() })).body.conversation_id,
}
const VIEW = { name: 'theirs', section: 'requests', query: '' }
const TEST_CASE = { name: 'theirs', request: { prompt: 'hello' }, checks: [] }
const WORKFLOW = {
  name: 'theirs',
  triggerType: 'manual',
  steps: [{ type: 'transform', name: 'a', config: { template: 1 } }],
}
/**
 * Kinds that everyone may see (a statement has a month, of one's own), those that a reviewer decides on, and sessions,
 * which no key reaches.
 */
const SHARED = ['models', 'rate-limits', 'billing', 'auth']
/** A body each route accepts, so that only the id decides. */
const BODIES: Record<string, object> = {
  'POST /browser/sessions/{id}/actions': { tool: 'browser_observe' },
  'PUT /keys/{id}': { name: 'mine now' },
  'PATCH /keys/{id}': { name: 'mine now' },
  'POST /keys/{id}/rotate': {},
  'PUT /keys/{id}/guardrails': { guardrail_policy_id: null },
  'PUT /keys/{id}/routing-preference': { routing_preference_id: null },
  'PUT /keys/{id}/routing-rules': { rules: [] },
  'PATCH /routing-preferences/{id}': { name: 'mine now' },
  'PATCH /guardrail-policies/{id}': { name: 'mine now' },
  'POST /guardrail-policies/{id}/evaluate': { text: 'hello', phase: 'input' },
  'POST /requests/{id}/replay': {},
  'PATCH /views/{id}': { name: 'mine now' },
  'PATCH /test-cases/{id}': { name: 'mine now' },
  'PATCH /hooks/{id}': { name: 'mine now' },
  'POST /webhooks/{id}/retry-failed': { from: '2026-01-01' },
  'PATCH /webhooks/{id}': { description: 'mine now' },
  'PATCH /iframes/{id}': { name: 'mine now' },
  'POST /iframes/{id}/verify': { domain: 'mine.example' },
  'POST /iframes/{id}/conversations/{sessionId}/messages': { content: 'hello' },
  'POST /iframes/{id}/conversations/{sessionId}/notes': { content: 'hello' },
  'POST /iframes/{id}/conversations/{sessionId}/handover': { to: 'me@example.com' },
  'PATCH /workflows/{id}': { name: 'mine now' },
  'POST /workflows/{id}/run': {},
  'PATCH /conversations/{id}': { title: 'mine now' },
  'POST /conversations/{id}': { metadata: { mine: 'now' } },
  'POST /conversations/{id}/items': { items: [{ role: 'user', content: 'mine now' }] },
  'PATCH /skills/{id}': { name: 'mine now' },
  'PATCH /skills/{id}/installation': { enabled: false },
  'POST /skills/{id}/reviews': { rating: 1 },
  'PATCH /evi/canvases/{id}': { name: 'mine now' },
  'POST /evi/canvases/{id}/test': { message: 'hello' },
  'POST /evi/canvases/{id}/publish': { slug: 'mine-now', version: '1.0.0', author: { name: 'Eve' } },
  'PATCH /orgs/{id}': { name: 'mine now' },
  'PATCH /orgs/{id}/members/{userId}': { role: 'owner' },
  'POST /orgs/{id}/invitations': { email: 'me@example.com', role: 'owner' },
}

const kindOf = (path: string): string => (path.startsWith('/skills/submissions') ? 'submissions' : path.split('/')[1]!)
const cells = routes
  .filter(({ path }) => !SHARED.includes(kindOf(path)))
  .flatMap((route) => [
    { ...route, who: 'another user', person: stranger },
    { ...route, who: "an org's key", person: colleague },
  ])

const request = (person: Person, { method, path, name }: (typeof routes)[number], id: string): Promise<Reply> =>
  person.send(method, withId(path, id), BODIES[name])

/** Every list and report. `live` never ends, and is tried with its streams. */
const LISTS = all.flatMap(({ method, path }) =>
  method === 'GET' && !path.includes('{') && path !== '/live'
    ? [path === '/search' ? 'search?q=theirs&' : `${path.slice(1)}?`]
    : [],
)
/** Names by which operators, rows or other services choose whose things are listed. */
const OWNER_WORDS = 'owner owner_id user user_id userId org org_id orgId account key key_id api_key_id scope'.split(' ')

/** What of an answer can tell two ids apart. */
function comparable({ status, text, body, headers }: Reply) {
  const id = body.error.request_id as string
  return { status, text: text.replaceAll(id, 'req'), type: headers.get('content-type'), length: text.length }
}

describe('what belongs to someone else (I22, D2, D5, D8, D14)', () => {
  test('every kind of id can be tried', () => {
    expect(routes.map(({ path }) => kindOf(path)).filter((kind) => !SHARED.includes(kind) && !OWNED[kind])).toEqual([])
  })

  test.each(cells)('$name: for $who, theirs, none and nonsense are one answer', async (route) => {
    const theirs = await OWNED[kindOf(route.path)]!()
    const [foreign, missing, malformed] = [
      await request(route.person, route, theirs),
      await request(route.person, route, randomUUID()),
      await request(route.person, route, 'not-an-id'),
    ]
    expect(foreign.status).toBe(404)
    expect(foreign.body.error.code).toBe(kindOf(route.path) === 'browser' ? 'session_not_found' : 'not_found')
    expect(comparable(foreign)).toEqual(comparable(missing))
    expect(comparable(malformed)).toEqual(comparable(missing))
  })

  test.each([
    ['another user', stranger],
    ["an org's key", colleague],
  ])('for %s, continuing their conversation is the same answer as continuing none', async (_, person) => {
    const theirs = await OWNED.conversations!()
    const messages = [{ role: 'user', content: 'go on' }]
    const replies = await Promise.all(
      [theirs, randomUUID(), 'nonsense', 'x'.repeat(500), ''].flatMap((conversation_id) =>
        [false, true].flatMap((stream) => [
          person.send('POST', 'completions', { prompt: 'go on', conversation_id, stream }),
          person.send('POST', 'chat/completions', { messages, conversation_id, stream }),
        ]),
      ),
    )
    for (const reply of replies) expect(comparable(reply)).toEqual(comparable(replies[0]!))
    expect(replies[0]!.status).toBe(404)
  })

  test('lists show their owner only, whatever the query names', async () => {
    const theirs = await Promise.all(Object.values(OWNED).map((make) => make()))
    const values = [owner.userId, `user:${owner.userId}`]
    const forged = OWNER_WORDS.flatMap((word) => values.map((value) => `${word}=${value}`))
    // The audit record repeats what a query named, so the user's id is looked for in the lists without a query.
    for (const [queries, ids] of [
      [[''], [...theirs, owner.userId]],
      [forged, theirs],
    ] as const)
      for (const person of [stranger, colleague])
        for (const path of LISTS)
          for (const { query, status, text } of await Promise.all(
            queries.map(async (query) => ({ query, ...(await person.send('GET', path + query)) })),
          )) {
            const shown = status === 200 ? ids.filter((id) => text.includes(id)) : []
            expect({ path, query, shown }).toEqual({ path, query, shown: [] })
            if (!query) expect({ path, status }).toEqual({ path, status: path === 'auth/sessions?' ? 401 : 200 })
          }
  })

  test('and nothing was changed by trying', async () => {
    const key = await OWNED.keys!()
    for (const route of routes.filter(({ path }) => kindOf(path) === 'keys')) await request(stranger, route, key)
    expect((await owner.send('GET', `keys/${key}`)).body).toMatchObject({ name: 'theirs', status: 'active' })
  })
})
