import { describe, expect, test } from 'bun:test'
import { resourceVerbs } from '../../src/http/resource-verbs'
import { operatorRoutes, tenantRoutes } from '../../src/http/verbs'
import { createResource, defineResource } from '../../src/resource'
import { emailOf, issueInvitation } from '../accounts/orgs/team'
import { createWorld, type Person } from '../support/world'
import { bookmark } from './bookmarks/resource'
import { bookmarks } from './bookmarks/table'
import { createTable, serve } from './served'

const world = await createWorld()
await createTable(world, bookmarks)
const hooks = { max: 9, read: async ({ name }: { name?: string }) => ({ name }) }

const gone: string[] = []
const notes = createResource(
  world.app.container.resources,
  defineResource({ ...bookmark, path: '/notes', owned: 'account', wrap: 'note' }),
  {
    ...hooks,
    async changed(tx, { verb, row }) {
      if (verb === 'deleted') tx.afterCommit(() => gone.push(row.id))
    },
  },
)
const boards = createResource(
  world.app.container.resources,
  defineResource({ ...bookmark, path: '/boards', owned: 'team', permission: 'manageSkills' }),
  hooks,
)
const { as, ops } = serve(world, {
  tenants: (guard) =>
    tenantRoutes([...resourceVerbs(notes), ...resourceVerbs(boards)], guard, { scope: 'skills', tag: 'x' }),
  operators: (edge) => operatorRoutes([...resourceVerbs(notes), ...resourceVerbs(boards)], edge),
})
const make = (by: Person, path: string) => as(by)('POST', path, { name: 'It' })

/** An organization with its owner, a viewer, and a key of its own. */
async function team() {
  const [owner, viewer] = [await world.person(), await world.person()]
  const org = (await owner.send('POST', 'orgs', { name: 'Team' })).body.id
  const { token } = await issueInvitation(world, org, await emailOf(world, viewer), 'viewer')
  await viewer.send('POST', `invitations/${token}/accept`)
  for (const each of [owner, viewer]) await each.send('POST', `orgs/${org}/activate`)
  const { key } = (await owner.send('POST', 'keys', { name: 'org', org_id: org })).body
  return { owner, viewer, org, ofOrg: { ...owner, key } }
}

describe('what belongs to an account', () => {
  test('is the person’s, or the organization’s whose key made it; one answer holds it in its member', async () => {
    const { owner, ofOrg, org } = await team()
    const [mine, ours] = [await make(owner, 'notes'), await make(ofOrg, 'notes')]
    expect({ mine: mine.body.note.org_id, ours: ours.body.note.org_id }).toEqual({ mine: null, ours: org })
    expect((await as(owner)('GET', `notes/${mine.body.note.id}`)).body.note.name).toBe('It')
    expect((await as(owner)('GET', `notes/${ours.body.note.id}`)).status).toBe(404)
    expect((await as(ofOrg)('GET', 'notes')).body.bookmarks.map(({ id }: { id: string }) => id)).toEqual([
      ours.body.note.id,
    ])
    expect((await ops('GET', `notes?owner=${org}`)).body.bookmarks).toHaveLength(1)
  })

  test('tells of each change in its transaction', async () => {
    const ada = await world.person()
    const { id } = (await make(ada, 'notes')).body.note
    expect((await as(ada)('DELETE', `notes/${id}`)).body.deleted).toBe(true)
    expect(gone).toEqual([id])
  })
})

describe('what belongs to a team', () => {
  test('is the active organization’s, and a person’s who has none', async () => {
    const { owner, ofOrg, org } = await team()
    const alone = await world.person()
    expect((await make(alone, 'boards')).body.org_id).toBeNull()
    const { id, org_id } = (await make(owner, 'boards')).body
    expect(org_id).toBe(org)
    expect((await as(ofOrg)('GET', `boards/${id}`)).status).toBe(200)
    expect((await as(alone)('GET', `boards/${id}`)).status).toBe(404)
  })

  test('is read by each member and changed by who has the permission', async () => {
    const { owner, viewer } = await team()
    const { id } = (await make(owner, 'boards')).body
    expect((await as(viewer)('GET', `boards/${id}`)).status).toBe(200)
    const { status, body } = await as(viewer)('PATCH', `boards/${id}`, { name: 'Mine' })
    expect({ status, code: body.error.code }).toEqual({ status: 403, code: 'forbidden' })
    expect(body.error.message).toContain('manageSkills')
    expect((await make(viewer, 'boards')).status).toBe(403)
  })
})
