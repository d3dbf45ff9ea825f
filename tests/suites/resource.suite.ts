import { describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { OwnerScope } from '../../src/kernel/caller'
import type { AnyNoun } from '../../src/resource'
import type { Rows } from '../../src/resource/rows'
import { emailOf, issueInvitation } from '../accounts/orgs/team'
import type { Person, World } from '../support/world'

// biome-ignore lint/suspicious/noExplicitAny: answers of every noun
type Answer = { status: number; body: any; text: string; headers: Headers }
type Send = (method: string, path: string, body?: object, headers?: Record<string, string>) => Promise<Answer>

/** A declared resource where it is served. */
export type Served = {
  resource: AnyNoun & { rows: Rows<never> }
  world: World
  /** The tenants' API, as this person. */
  as(person: Person): Send
  ops: Send
  /** How many one owner may have here. */
  max: number
  /** An order, the text member of it that tells one from another, and where GET has it, if not flat. */
  like?: { order: object; called: string; member?: string }
}

const NAMED: NonNullable<Served['like']> = { order: { name: 'Theirs' }, called: 'name' }

/** What holds for each declared resource, on both APIs. */
export function resourceSuite({ resource: noun, world, as, ops, max, like = NAMED }: Served) {
  const path = noun.path.slice(1)
  const isEither = noun.owned === 'either'
  /** A role that may not change what is the team's. */
  const without = noun.permission === 'manageSkills' ? 'viewer' : 'member'
  const { order: input, called, member = '' } = like
  const one = (id: string) => `${path}/${id}`
  /** One of it, as its answer shows it. */
  const shown = ({ body }: Answer) => viewOf(noun.wrap ? body[noun.wrap] : (body[member] ?? body))
  const made = async (by: Person, more: object = {}) => shown(await as(by)('POST', path, { ...input, ...more }))
  const listed = async (send: Send, query = ''): Promise<string[]> =>
    (await send('GET', `${path}${query}`)).body[noun.plural].map(({ id }: { id: string }) => id)
  const textOf = ({ status, body }: Answer) => [status, body.error.code, body.error.message]
  /** An org with its owner, and a colleague in a role; both have it active. */
  async function team(role: 'viewer' | 'member' | 'admin') {
    const [owner, colleague] = [await world.person(), await world.person()]
    const org = (await owner.send('POST', 'orgs', { name: 'Team' })).body.id
    const { token } = await issueInvitation(world, org, await emailOf(world, colleague), role)
    await colleague.send('POST', `invitations/${token}/accept`)
    for (const each of [owner, colleague]) await each.send('POST', `orgs/${org}/activate`)
    return { owner, colleague, org }
  }

  describe(`${noun.path}`, () => {
    test('is made, read, changed and deleted, each recorded with its change', async () => {
      const ada = await world.person()
      const send = as(ada)
      const answer = await send('POST', path, input)
      expect(answer.status).toBe(201)
      if (isEither) expect(shown(answer)).toMatchObject({ object: noun.name, scope: 'personal', org_id: null })
      const { id, created } = shown(answer)
      expect(shown(await send('GET', one(id)))).toMatchObject({ id, ...input, updated: created })
      const changed = shown(await send('PATCH', one(id), { [called]: 'Renamed' }))
      expect(changed[called]).toBe('Renamed')
      expect(Date.parse(changed.updated)).toBeGreaterThan(Date.parse(created))
      expect([200, 400]).toContain((await send('PATCH', one(id), {})).status)
      expect(shown(await send('GET', one(id))).updated).toBe(changed.updated)
      expect((await send('DELETE', one(id))).body.deleted).toBe(true)
      expect((await send('GET', one(id))).status).toBe(404)
      const { body: events } = await ada.send('GET', `audit?entity_id=${id}`)
      const notice = events.map((event: { action: string; inputSummary: { fields?: string[] } }) => [
        event.action,
        event.inputSummary.fields,
      ])
      expect(notice.reverse()).toEqual([
        [`${noun.name}.created`, undefined],
        [`${noun.name}.updated`, [called]],
        [`${noun.name}.deleted`, undefined],
      ])
    })

    test('the same Idempotency-Key makes one', async () => {
      const send = as(await world.person())
      const headers = { 'idempotency-key': randomUUID() }
      const answers = [await send('POST', path, input, headers), await send('POST', path, input, headers)]
      expect(answers[1]!.text).toBe(answers[0]!.text)
      expect(answers[1]!.headers.get('x-idempotent-replay')).toBe('true')
      expect(await listed(send)).toHaveLength(1)
    })

    test('a list is newest first, in pages', async () => {
      const ada = await world.person()
      const all = [await made(ada), await made(ada), await made(ada)]
      const { body: first } = await as(ada)('GET', `${path}?limit=2`)
      const { body: rest } = await as(ada)('GET', `${path}?limit=2&cursor=${first.next_cursor}`)
      expect(first.has_more).toBe(true)
      expect(rest.has_more).toBe(false)
      expect(rest.next_cursor).toBe(null)
      const found: { id: string; created: string }[] = [...first[noun.plural], ...rest[noun.plural]].map(viewOf)
      expect(found.map(({ id }) => id).sort()).toEqual(all.map(({ id }) => id).sort())
      expect(found.map(({ created }) => created)).toEqual(all.map(({ created }) => created).reverse())
    })

    test('an owner has the most that the setting allows; operators may give more', async () => {
      const ada = await world.person()
      const answers = await Promise.all(Array.from({ length: max + 3 }, () => as(ada)('POST', path, input)))
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(max)
      const [refused] = answers.filter(({ status }) => status === 409)
      expect(refused!.body.error.message).toContain(
        `${max} ${noun.title.many}, which is the maximum here (${noun.max.env})`,
      )
      expect((await ops('POST', `${path}?owner=${ada.userId}`, input)).status).toBe(200)
    })

    test.if('is_default' in noun.empty)('of ten at once one is the default, and it is named', async () => {
      const ada = await world.person()
      const ids = await Promise.all(Array.from({ length: max }, async () => (await made(ada)).id))
      const answers = await Promise.all(ids.map((id) => as(ada)('PATCH', one(id), { is_default: true })))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(max - 1).fill(409)])
      expect(answers.find(({ status }) => status === 409)!.body.error.message).toContain('"Theirs"')
    })
  })

  describe(`whose ${noun.path} (I22)`, () => {
    test.each(['GET', 'PATCH', 'DELETE'])('%s of another’s, of none and of nonsense is one answer', async (method) => {
      const { id } = await made(await world.person())
      const body = method === 'PATCH' ? { [called]: 'Mine now' } : undefined
      for (const who of [await world.person(), await world.person({ ofOrg: true })]) {
        const answers = []
        for (const request of [id, randomUUID(), 'nonsense'])
          answers.push(textOf(await as(who)(method, one(request), body)))
        expect(answers).toEqual(Array(3).fill([404, 'not_found', `No ${noun.title.one} with this id.`]))
      }
      expect(shown(await ops('GET', one(id)))[called]).toBe('Theirs')
    })

    test('a list has its owner’s, and no tenant gets further by naming another', async () => {
      const [ada, eve] = [await world.person(), await world.person()]
      const [hers, eves] = [(await made(ada)).id, (await made(eve)).id]
      for (const query of ['', `?owner=${ada.userId}`, `?owner=user:${ada.userId}`]) {
        expect(await listed(as(eve), query)).toEqual([eves])
      }
      const forged = { owner: `user:${ada.userId}`, user_id: ada.userId, org_id: ada.orgId }
      const { status } = await as(eve)('POST', `${path}?owner=${ada.userId}`, { ...input, ...forged })
      expect(status).toBe(201)
      expect(await listed(as(ada))).toEqual([hers])
    })

    test('an operator sees everyone’s, or those of the owner named, and changes any', async () => {
      const [ada, eve] = [await world.person(), await world.person()]
      const [hers, eves] = [(await made(ada)).id, (await made(eve)).id]
      expect(await listed(ops, '?limit=2')).toEqual(expect.arrayContaining([hers, eves]))
      expect(await listed(ops, `?owner=${ada.userId}`)).toEqual([hers])
      expect((await ops('GET', `${path}?owner=nobody`)).status).toBe(404)
      expect((await ops('POST', `${path}?owner=nobody`, input)).status).toBe(404)
      expect(shown(await ops('PATCH', one(eves), { [called]: 'Set right' }))[called]).toBe('Set right')
      const given = shown(await ops('POST', `${path}?owner=${ada.userId}`, input)).id
      expect(await listed(as(ada))).toContain(given)
      for (const id of ['nonsense', randomUUID()]) expect((await ops('DELETE', one(id))).status).toBe(404)
      const ofTeam = await ops('POST', `${path}?owner=${ada.userId}`, { ...input, scope: 'team' })
      expect(ofTeam.status).toBe(isEither ? 400 : 200)
    })

    test.if(isEither)('what is the team’s is changed by who may, and ends with the organization', async () => {
      const { owner, colleague, org } = await team(without)
      const { id, org_id } = await made(owner, { scope: 'team' })
      expect(org_id).toBe(org)
      expect((await as(colleague)('GET', one(id))).status).toBe(200)
      const tried = [
        await as(colleague)('PATCH', one(id), { name: 'Mine now' }),
        await as(colleague)('DELETE', one(id)),
        await as(colleague)('POST', path, { ...input, scope: 'team' }),
      ]
      expect(tried.map(({ status, body }) => [status, body.error.code])).toEqual(Array(3).fill([403, 'missing_scope']))
      expect((await owner.send('DELETE', `orgs/${org}`)).status).toBe(200)
      expect((await ops('GET', one(id))).status).toBe(404)
    })

    test('a write reaches nothing outside of its reach', async () => {
      const { store } = world.app.container
      const { id } = await made(await world.person())
      for (const scope of [[], [`user:${randomUUID()}` as OwnerScope]]) {
        expect(await noun.rows.find(store.read, scope, id)).toBeUndefined()
        expect(await store.write((tx) => noun.rows.findLocked(tx, scope, id))).toBeUndefined()
        expect(await store.write((tx) => noun.rows.update(tx, scope, id, { name: 'Mine' } as never))).toBeUndefined()
        await store.write((tx) => noun.rows.remove(tx, scope, id))
      }
      expect(shown(await ops('GET', one(id)))[called]).toBe('Theirs')
    })
  })
}

/** A view with the times that each has, by whichever name. */
// biome-ignore lint/suspicious/noExplicitAny: views of every noun
const viewOf = (view: any) =>
  view && {
    ...view,
    created: view.created ?? view.createdAt ?? view.created_at,
    updated: view.updatedAt ?? view.updated_at ?? view.updated,
  }
