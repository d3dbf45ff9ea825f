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
  /** Where a key is bound to one, and the member of the key that then names it. */
  bound?: { put: string; member: string }
}

const NAMED: NonNullable<Served['like']> = { order: { name: 'Theirs' }, called: 'name' }

/** What holds for each declared resource, on both APIs. */
export function resourceSuite({ resource: noun, world, as, ops, max, like = NAMED, bound }: Served) {
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

    test.each(['limit=0', 'limit=101', 'limit=1.5', 'limit=x', 'cursor=nonsense'])(
      'a list refuses %s',
      async (query) => {
        const { status, body } = await as(await world.person())('GET', `${path}?${query}`)
        expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'validation_error' })
      },
    )

    if (isEither)
      test('a list may be of one scope', async () => {
        const bob = await world.person({ ofOrg: true })
        const { id } = await made(bob)
        expect(await listed(as(bob), '?scope=personal')).toEqual([])
        expect(await listed(as(bob), '?scope=team')).toEqual([id])
        expect((await as(bob)('GET', `${path}?scope=nobody`)).status).toBe(400)
      })
  })

  if ('is_default' in noun.empty)
    describe(`the default ${noun.title.one}`, () => {
      test.each([
        ['made', 201],
        ['changed', 200],
      ])('of ten that are %s at once one is it, and it is named (K13, E10)', async (word, status) => {
        const ada = await world.person()
        const all = Array.from({ length: max }, () => ({ is_default: true }))
        const ids = word === 'made' ? [] : await Promise.all(all.map(async () => (await made(ada)).id))
        const answers = await Promise.all(
          all.map((body, at) =>
            ids.length ? as(ada)('PATCH', one(ids[at]), body) : as(ada)('POST', path, { ...input, ...body }),
          ),
        )
        expect(answers.map((answer) => answer.status).sort()).toEqual([status, ...Array(max - 1).fill(409)])
        const { error } = answers.find((answer) => answer.status === 409)!.body
        expect(error).toMatchObject({ code: 'conflict', type: 'conflict_error' })
        expect(error.message).toStartWith(`"Theirs" is already the default ${noun.title.one}`)
        expect(await listed(as(ada))).toHaveLength(ids.length || 1)
      })

      test('can be another once the first gives it up', async () => {
        const eve = await world.person()
        const [first, second] = [await made(eve, { is_default: true }), await made(eve)]
        const change = (id: string, is_default: boolean) => as(eve)('PATCH', one(id), { is_default })
        expect((await change(second.id, true)).status).toBe(409)
        await change(first.id, false)
        expect(shown(await change(second.id, true)).is_default).toBe(true)
      })

      test('is one of a person and one of a team', async () => {
        const bob = await world.person()
        const org = (await bob.send('POST', 'orgs', { name: 'Bobs' })).body.id
        await bob.send('POST', `orgs/${org}/activate`)
        expect((await made(bob, { is_default: true })).is_default).toBe(true)
        const team = await made(bob, { is_default: true, scope: 'team' })
        expect(team).toMatchObject({ scope: 'team', org_id: org, is_default: true })
      })
    })

  if (bound)
    describe(`the keys of a ${noun.title.one}`, () => {
      test('are counted, and have none once it is deleted', async () => {
        const { put, member } = bound
        const ada = await world.person()
        const { id } = await made(ada)
        await ada.send('PUT', `keys/${ada.keyId}/${put}`, { [member]: id })
        expect(shown(await as(ada)('GET', one(id))).bound_key_count).toBe(1)
        expect((await as(await world.signedIn(ada))('DELETE', one(id))).body).toMatchObject({ deleted: true })
        expect((await ada.send('GET', `keys/${ada.keyId}`)).body[member]).toBeNull()
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
      expect((await as(eve)('POST', `${path}?owner=${ada.userId}`, { ...input, ...forged })).status).toBe(201)
      expect(await listed(as(ada))).toEqual([hers])
    })

    test('no member that a body does not declare gets into its row', async () => {
      const ada = await world.person()
      const send = as(ada)
      const forged = ({ properties }: { properties?: object }) =>
        Object.fromEntries(Object.keys(noun.empty).flatMap((name) => (name in properties! ? [] : [[name, 'forged']])))
      const answer = await send('POST', path, { ...input, ...forged(noun.words.New) })
      expect(answer.status).toBe(201)
      const { id } = shown(answer)
      const body = { [called]: 'Renamed', ...forged(noun.words.Patch) }
      expect((await send('PATCH', one(id), body)).status).toBe(200)
      const row = await noun.rows.find(world.app.store.read, [`user:${ada.userId}` as OwnerScope], id)
      expect(row).toMatchObject({ id })
      expect(JSON.stringify(row)).not.toContain('forged')
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
