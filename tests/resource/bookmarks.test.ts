import { expect, test } from 'bun:test'
import { resourceSuite } from '../suites/resource.suite'
import { createWorld } from '../support/world'
import { bookmark } from './bookmarks/resource'
import { serveBookmarks } from './served'

/** The worked example: `bookmarks/` holds all that a noun needs; what the suite says comes from its declaration. */
const world = await createWorld()
const max = 10
const { as, ops } = await serveBookmarks(world, max)

resourceSuite({ resource: bookmark as never, world, as, ops, max })

test('a noun reads what is sent, and has verbs of its own on both APIs', async () => {
  const send = as(await world.person())
  const refused = await send('POST', 'bookmarks', { name: 'Nowhere', url: 'nonsense' })
  expect({ status: refused.status, param: refused.body.error.param }).toEqual({ status: 400, param: 'url' })
  const { id } = (await send('POST', 'bookmarks', { name: 'Docs', url: 'https://example.com/docs' })).body
  for (const by of [send, ops]) expect((await by('POST', `bookmarks/${id}/visit`)).body.host).toBe('example.com')
  expect((await as(await world.person())('POST', `bookmarks/${id}/visit`)).status).toBe(404)
})
