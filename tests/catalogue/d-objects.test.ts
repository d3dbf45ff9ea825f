import { describe, expect, test } from 'bun:test'
import { startTarget } from './support'
import { keepsItsPromises } from './support/oracle'
import type { Reply, Sending } from './support/reply'

/** D1-D16: what belongs to U1, asked for by U2 and by keys that hold nothing of it. */

const target = await startTarget()
const { send, people, ops } = target

const conversation = (await send('POST', 'completions', { body: { prompt: 'a secret of U1' } })).body.conversation_id
const org = (await send('POST', 'orgs', { body: { name: 'Of U1' } })).body.id as string
const orgKey = (await send('POST', 'keys', { body: { name: 'of the org', org_id: org } })).body as {
  id: string
  key: string
}
const foreignOrg = (await send('POST', 'orgs', { as: 'k2', body: { name: 'Of U2' } })).body.id as string
const u2OrgKey = (await ops('POST', '/ops/v1/keys', { org: foreignOrg, tier: 'enterprise' })).body.key as string
const { user_id: u1 } = (await send('GET', `orgs/${org}/members`)).body.members[0]
const invited = await ops('POST', `/ops/v1/orgs/${org}/invitations`, { email: 'someone@example.com', role: 'owner' })
const token = invited.body.token as string

/** What of an answer may tell two ids apart: nothing. */
const words = ({ status, text, body, headers }: Reply) => ({
  status,
  text: text.replaceAll(body?.error?.request_id ?? 'none', 'req'),
  type: headers.get('content-type'),
})

type Request = { id: string; what: string; foreign: string; ask(id: string): [string, string, unknown?] }

const ROWS: Request[] = [
  { id: 'D5', what: "read an org's key", foreign: orgKey.id, ask: (id) => ['GET', `keys/${id}`] },
  { id: 'D5', what: "revoke an org's key", foreign: orgKey.id, ask: (id) => ['DELETE', `keys/${id}`] },
  {
    id: 'D11',
    what: 'take a member of another org out of their own',
    foreign: u1,
    ask: (id) => ['DELETE', `orgs/${foreignOrg}/members/${id}`],
  },
  {
    id: 'D13',
    what: 'name the org in the order of a key',
    foreign: org,
    ask: (id) => ['POST', 'keys', { scope: 'org', org_id: id }],
  },
  {
    id: 'D13',
    what: 'accept the invitation of someone else',
    foreign: token,
    ask: (id) => ['POST', `invitations/${id}/accept`],
  },
  {
    id: 'D16',
    what: 'read a key as a conversation',
    foreign: people.keyIds.k2,
    ask: (id) => ['GET', `conversations/${id}`],
  },
  { id: 'D16', what: 'read an org as a key', foreign: foreignOrg, ask: (id) => ['GET', `keys/${id}`] },
  { id: 'D16', what: 'read a key as an org', foreign: people.keyIds.k2, ask: (id) => ['GET', `orgs/${id}`] },
]

const ASKERS: [string, Sending][] = [
  ['U2', { as: 'k2' }],
  ["a key of U2's org", { key: u2OrgKey }],
]

const cells = ROWS.flatMap((row) => ASKERS.map(([who, sending]) => ({ ...row, who, sending })))

describe('D. what belongs to someone else', () => {
  test.each(cells)('$id $who cannot $what, and cannot tell that it is there', async ({ ask, foreign, sending }) => {
    const replies: Reply[] = []
    for (const id of [foreign, crypto.randomUUID(), 'not-an-id']) {
      const [method, path, body] = ask(id)
      replies.push(await send(method, path, { ...sending, ...(body === undefined ? {} : { body }) }))
    }
    expect(replies[0]).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    expect(replies.map(words)).toEqual(Array(3).fill(words(replies[0]!)))
    expect(replies[0]!.text).not.toContain('data:')
  })

  test('D1-D16 and all of it is as it was', async () => {
    expect((await send('GET', `conversations/${conversation}`)).body.conversation.messages).toHaveLength(2)
    expect((await send('GET', `keys/${people.keyIds.k1}`)).body).toMatchObject({ name: 'k1', status: 'active' })
    expect((await send('GET', `keys/${orgKey.id}`)).body).toMatchObject({ name: 'of the org', status: 'active' })
    expect((await send('GET', `orgs/${org}`)).body).toMatchObject({ name: 'Of U1', role: 'owner', member_count: 1 })
    expect((await send('GET', 'auth/me', { as: 'k2' })).body.active_org_id).toBeNull()
  })

  test('D4 another key of the same user reaches what is theirs', async () => {
    for (const path of [`conversations/${conversation}`, `keys/${people.keyIds.k1}`, `orgs/${org}`]) {
      expect((await send('GET', path, { as: 'k1b' })).status).toBe(200)
    }
  })

  test.each([
    `audit?userId=${u1}`,
    `audit?orgId=${org}`,
    `audit?user_id=${u1}&org_id=${org}`,
    `audit?key_id=${people.keyIds.k1}`,
    `audit?entity_id=${people.keyIds.k1}`,
    `audit?entity_id=${conversation}`,
    `audit/export?orgId=${org}&entity_id=${org}`,
    `usage/export?key_id=${people.keyIds.k1}`,
    `keys?user=${u1}&org=${org}`,
    `conversations?userId=${u1}`,
  ])('D14 a filter is no way to them: GET /%s', async (path) => {
    const { text, status } = await send('GET', path, { as: 'k2' })
    expect(status).toBe(200)
    const rows = text.replaceAll(path, '')
    for (const foreign of [u1, org, conversation, people.keyIds.k1]) expect(rows).not.toContain(foreign)
  })

  test("D14 usage of another owner's key is empty or not found", async () => {
    const reply = await send('GET', `usage?key_id=${people.keyIds.k1}`, { as: 'k2' })
    if (reply.status === 200) expect(reply.body.totals.requests).toBe(0)
    else expect(reply.status).toBe(404)
  })

  test('D20 ids are random in 122 bits, and neighbours of one are nothing', async () => {
    const ids = [conversation, org, orgKey.id, u1, people.keyIds.k1]
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const last = Number.parseInt(org.slice(-8), 16)
    const near = Array.from(
      { length: 500 },
      (_, at) => org.slice(0, -8) + ((last + at + 1) >>> 0).toString(16).padStart(8, '0'),
    )
    const statuses = new Set<number>()
    for (let from = 0; from < near.length; from += 25) {
      const replies = await Promise.all(
        near.slice(from, from + 25).map((id) => send('GET', `orgs/${id}`, { as: 'k2' })),
      )
      for (const { status } of replies) statuses.add(status)
    }
    expect([...statuses]).toEqual([404])
  })
})

test('D19 a member who is taken out is refused by no later than the acknowledgement, however many ask meanwhile', async () => {
  const leaving = await people.newcomer({})
  const joined = await ops('POST', `/ops/v1/orgs/${org}/members`, { user: leaving.email, role: 'admin' })
  const { body: made } = await send('POST', 'keys', { key: leaving.key, body: { org_id: org } })
  let out = false
  let late = 0
  const readers = Array.from({ length: 8 }, async () => {
    for (let turn = 0; turn < 10; turn++) {
      const after = out
      const replies = [
        await send('GET', 'models', { key: made.key }),
        await send('GET', `orgs/${org}`, { key: leaving.key }),
      ]
      if (after) late += replies.filter(({ status }) => status === 200).length
    }
  })
  await send('DELETE', `orgs/${org}/members/${joined.body.user_id}`)
  out = true
  await Promise.all(readers)
  expect(late).toBe(0)
})

keepsItsPromises(target, { canaries: [token] })
