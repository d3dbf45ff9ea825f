import { describe, expect, test } from 'bun:test'
import { createWorld } from '../support/world'

const world = await createWorld()
const ada = await world.person()

describe('GET /tools', () => {
  test('lists what engines may use, in the form of the contract', async () => {
    const { status, body } = await ada.send('GET', 'tools')
    expect(status).toBe(200)
    expect(body.request_id).toMatch(/^req_/)
    const names = body.tools.map(({ name }: { name: string }) => name)
    expect(names).toEqual(expect.arrayContaining(['web_search', 'web_fetch', 'code_execute']))
    expect(body.tools.find(({ name }: { name: string }) => name === 'code_execute')).toMatchObject({
      inputSchema: { type: 'object', required: ['code'] },
      category: 'code',
      permissionLevel: 'user',
      requiresApproval: false,
      skillId: null,
      available: true,
      unavailableReason: null,
    })
  })

  test('says of what is not configured that it is not, and why', async () => {
    const { body } = await ada.send('GET', 'tools')
    const search = body.tools.find(({ name }: { name: string }) => name === 'web_search')
    expect(search).toMatchObject({ available: false, unavailableReason: expect.stringContaining('SVC_SEARCH_DRIVER') })
  })

  test('shows one category', async () => {
    const { body } = await ada.send('GET', 'tools?category=code')
    expect(body.tools.map(({ name }: { name: string }) => name)).toEqual(['code_execute', 'generate_code'])
    expect((await ada.send('GET', 'tools?category=skill')).body.tools).toEqual([])
  })

  test.each(['weapons', '', '__proto__', 'code,search'])('refuses the category %j', async (category) => {
    const { status, body } = await ada.send('GET', `tools?category=${category}`)
    expect(status).toBe(400)
    expect(body.error).toMatchObject({ code: 'validation_error', param: 'category' })
  })
})

test("GET /tools/signing-secret is the owner's own: the same for their keys, another for an org and for everyone else", async () => {
  const [ben, org] = [await world.person(), await world.person({ ofOrg: true })]
  const secrets = await Promise.all(
    [ada, ada, ben, org].map(async (person) => (await person.send('GET', 'tools/signing-secret')).body.secret),
  )
  expect(secrets[0]).toMatch(/^[0-9a-f]{64}$/)
  expect(secrets[1]).toBe(secrets[0])
  expect(new Set(secrets).size).toBe(3)
  expect(world.logged.join('')).not.toContain(secrets[0])
})

describe('SVC_SYSTEM_TOOLS', () => {
  test('names the tools that are on', async () => {
    const other = await createWorld({ config: { systemTools: 'web_fetch' } })
    const { body } = await (await other.person()).send('GET', 'tools')
    expect(body.tools.map(({ name }: { name: string }) => name)).toEqual(['web_fetch'])
    expect(other.logged.join()).not.toContain('SVC_SYSTEM_TOOLS')
  })

  test('is told from a misspelling', async () => {
    const { logged } = await createWorld({ config: { systemTools: 'web_fetch, web_fecth' } })
    const [line] = logged.filter((text) => text.includes('SVC_SYSTEM_TOOLS'))
    expect(line).toContain('web_fecth')
  })
})
