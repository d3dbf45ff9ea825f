import { describe, expect, test } from 'bun:test'
import { createWorld } from '../../support/world'
import { createTeam } from './team'

const world = await createWorld()

describe('/orgs', () => {
  test('goes from an org founded to an org renamed', async () => {
    const ada = await world.person()
    const made = await ada.send('POST', 'orgs', { name: 'Tide & Sons', type: 'agency' })
    expect(made.status).toBe(201)
    const { request_id, ...org } = made.body
    expect(request_id).toBe(made.headers.get('x-request-id'))
    expect(org).toEqual({
      id: org.id,
      object: 'organization',
      name: 'Tide & Sons',
      slug: 'tide-sons',
      type: 'agency',
      role: 'owner',
      member_count: 1,
      created: org.created,
      updated: org.created,
    })
    expect((await ada.send('GET', `orgs/${org.id}`)).body).toMatchObject(org)
    const renamed = await ada.send('PATCH', `orgs/${org.id}`, { name: 'Tide', slug: 'tide' })
    expect([renamed.status, renamed.body.name, renamed.body.slug]).toEqual([200, 'Tide', 'tide'])
    const untouched = await ada.send('PATCH', `orgs/${org.id}`, {})
    expect([untouched.body.name, untouched.body.updated]).toEqual(['Tide', renamed.body.updated])
  })

  test('lists what one belongs to, newest first, page by page', async () => {
    const ada = await world.person()
    const ids: string[] = []
    for (const name of ['a', 'b', 'c']) ids.unshift((await ada.send('POST', 'orgs', { name })).body.id)
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const { body } = await ada.send('GET', `orgs?limit=1${cursor}`)
      seen.push(...body.organizations.map(({ id }: { id: string }) => id))
      expect(body.has_more).toBe(body.next_cursor !== null)
      if (!body.has_more) break
      cursor = `&cursor=${body.next_cursor}`
    }
    expect(seen.toSorted()).toEqual(ids.toSorted())
    expect((await ada.send('GET', 'orgs')).body.organizations.map(({ id }: { id: string }) => id)).toEqual(seen)
  })

  test('lists them by when they were founded, not by when one came in', async () => {
    const team = await createTeam(world)
    const eve = await world.person()
    const { body: made } = await eve.send('POST', 'orgs', { name: 'Later' })
    await team.join('viewer', eve)
    const { organizations } = (await eve.send('GET', 'orgs')).body
    const dates = organizations.map(({ created }: { created: string }) => created)
    expect(dates).toEqual(dates.toSorted().reverse())
    expect(organizations.map(({ id }: { id: string }) => id).toSorted()).toEqual([made.id, team.id].toSorted())
  })

  test('takes nothing that is not said of a new org (E5)', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    const greedy = { name: 'x', owner_id: eve.userId, plan: 'enterprise', id: crypto.randomUUID(), role: 'viewer' }
    const { body } = await ada.send('POST', 'orgs', { ...greedy, plan_note: 'free for ever', suspended_at: null })
    expect(body).toMatchObject({ role: 'owner', member_count: 1 })
    expect(body.id).not.toBe(greedy.id)
    expect((await eve.send('GET', 'orgs')).body.organizations).toEqual([])
    const row = await world.app.container.orgs.find(world.app.store.read, body.id)
    expect(row).toMatchObject({ plan_note: null, deleted_at: null })
  })
})

describe('what /orgs refuses', () => {
  const bodies: [string, unknown, string][] = [
    ['no name', {}, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a name of blanks', { name: '   ' }, 'name'],
    ['a name of 129', { name: 'x'.repeat(129) }, 'name'],
    ['a name that is a number', { name: 7 }, 'name'],
    ['a type that is none', { name: 'x', type: 'gang' }, 'type'],
    ['a slug with capitals', { name: 'x', slug: 'Acme' }, 'slug'],
    ['a slug with blanks', { name: 'x', slug: 'a b' }, 'slug'],
    ['a slug that ends in a dash', { name: 'x', slug: 'a-' }, 'slug'],
    ['a slug with a path', { name: 'x', slug: '../a' }, 'slug'],
  ]
  test.each(bodies)('%s', async (_why, body, param) => {
    const ada = await world.person()
    const refused = await ada.send('POST', 'orgs', body)
    expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([
      400,
      'validation_error',
      param,
    ])
    expect((await ada.send('GET', 'orgs')).body.organizations).toEqual([])
  })

  test('a slug that is taken, also of a rename and of two at once', async () => {
    const ada = await world.person()
    const [one, two] = [await ada.send('POST', 'orgs', { name: 'one', slug: 'first' }), await createTeam(world)]
    expect(one.status).toBe(201)
    const again = await ada.send('POST', 'orgs', { name: 'other', slug: 'first' })
    expect([again.status, again.body.error.code]).toEqual([409, 'conflict'])
    expect(again.body.error.message).toContain('"first"')
    const renamed = await two.owner.send('PATCH', `orgs/${two.id}`, { slug: 'first' })
    expect([renamed.status, renamed.body.error.code]).toEqual([409, 'conflict'])
    const racing = await Promise.all(
      Array.from({ length: 8 }, () => ada.send('POST', 'orgs', { name: 'race', slug: 'race' })),
    )
    expect(racing.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(409)])
  })

  test('a cursor and a limit that are none', async () => {
    const ada = await world.person()
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'cursor=!!']) {
      expect((await ada.send('GET', `orgs?${query}`)).body.error.code).toBe('validation_error')
    }
  })
})

test('what does not fit is told what would', async () => {
  const ada = await world.person()
  const { body: org } = await ada.send('POST', 'orgs', { name: 'Forms' })
  for (const [path, input, message] of [
    ['orgs', { name: '  ' }, '"name" is blank.'],
    ['orgs', { name: 'a', slug: 'A b' }, '"slug" is "A b"; it must be lower-case letters and digits'],
    [`orgs/${org.id}/invitations`, { email: 'bob', role: 'member' }, 'it must be an e-mail address, such as'],
    ['keys', { expires_at: '2030-01-01' }, 'it must be a time with its zone, such as 2026-01-31T12:00:00Z.'],
  ] as const) {
    const { status, body } = await ada.send('POST', path, input)
    expect(status).toBe(400)
    expect(body.error.message).toContain(message)
  }
})

describe("an organization's key", () => {
  test('sees its own org and no other of its maker', async () => {
    const team = await createTeam(world)
    const { body: other } = await team.owner.send('POST', 'orgs', { name: 'other' })
    const key = await team.orgKey(team.owner)
    expect((await key.send('GET', 'orgs')).body.organizations.map(({ id }: { id: string }) => id)).toEqual([team.id])
    expect((await key.send('GET', `orgs/${team.id}`)).status).toBe(200)
    for (const [method, path, body] of [
      ['GET', `orgs/${other.id}`],
      ['PATCH', `orgs/${other.id}`, { name: 'x' }],
      ['DELETE', `orgs/${other.id}`],
      ['GET', `orgs/${other.id}/members`],
      ['POST', `orgs/${other.id}/activate`],
    ] as const) {
      expect((await key.send(method, path, body)).status).toBe(404)
    }
  })

  test('is nobody: it founds nothing and chooses no place to work', async () => {
    const team = await createTeam(world)
    const key = await team.orgKey(team.owner)
    for (const [method, path, body] of [
      ['POST', 'orgs', { name: 'x' }],
      ['POST', `orgs/${team.id}/activate`],
      ['DELETE', `orgs/${team.id}/activate`],
    ] as const) {
      const refused = await key.send(method, path, body)
      expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden'])
    }
  })
})
