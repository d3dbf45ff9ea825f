import { expect, test } from 'bun:test'
import type { AnyNoun } from '../../src/resource'
import { createTeam } from '../accounts/orgs/team'
import { createWorld } from '../support/world'

// SQLite only: whose a row is, is decided before the dialect.
const world = await createWorld()
const team = await createTeam(world)
const byKey = await team.orgKey(team.owner)

const files = (await Array.fromAsync(new Bun.Glob('src/*/resource.ts').scan('.'))).sort()
const nouns = (await Promise.all(files.map((file) => import(`../../${file}`)))).flatMap((held) =>
  Object.values(held),
) as AnyNoun[]

const ORDERS: Record<string, object> = {
  '/hooks': { event_pattern: 'order.*', skill_slug: 'email-drafter' },
  '/webhooks': { url: 'https://203.0.112.7/hook', event_types: ['order.*'] },
  '/views': { name: 'Ours', section: 'requests', query: '' },
  '/test-cases': { name: 'Ours', request: { prompt: 'hello' }, checks: [] },
  '/iframes': { name: 'Ours', api_key_id: byKey.id },
  '/workflows': {
    name: 'Ours',
    triggerType: 'manual',
    steps: [{ type: 'transform', name: 'a', config: { template: 1 } }],
  },
}
const CHANGES: Record<string, object> = { '/hooks': { cooldown_minutes: 20 }, '/webhooks': { description: 'Changed' } }

test.each(nouns.map((noun) => [noun.path, noun] as const))(
  '%s of an organization are seen in a session that has it active, and changed by those whose role may (docs/api.md 1.2)',
  async (path, { permission, owned, reach, guarded }) => {
    const input = { ...(ORDERS[path] ?? { name: 'Ours' }), ...(owned === 'either' ? { scope: 'team' } : {}) }
    const made = await byKey.send('POST', path.slice(1), input)
    expect(made.status).toBe(201)
    const found = made.text.match(/"id":"([^"]+)"/)!
    const one = `${path.slice(1)}/${found[1]}`
    const mayChange = permission === 'manageSkills' ? ['member', 'admin'] : ['admin']
    const seen: unknown[] = []
    for (const role of ['viewer', 'member', 'admin'] as const) {
      const session = await world.signedIn(team[role])
      const before = (await session.send('GET', one)).status
      await session.send('POST', `orgs/${team.id}/activate`)
      const after = (await session.send('GET', one)).status
      const { status } = await session.send('PATCH', one, CHANGES[path] ?? { name: `By ${role}` })
      await session.send('DELETE', `orgs/${team.id}/activate`)
      seen.push([role, before, after, status])
    }
    expect((await (await world.signedIn(team.outsider)).send('GET', one)).status).toBe(404)
    const without = reach === 'every org' ? 200 : 404
    expect(seen).toEqual(
      ['viewer', 'member', 'admin'].map((role) => {
        const may = mayChange.includes(role)
        return [role, without, may || !guarded ? 200 : 403, may ? 200 : 403]
      }),
    )
  },
)
