import { describe, expect, test } from 'bun:test'
import { createTeam } from '../accounts/orgs/team'
import { createWorld } from '../support/world'
import { manifest, submit } from './support'

const world = await createWorld()
const { activeFor } = world.app.container.skills

describe('a skill of an org that was installed', () => {
  test('leaves with who leaves the org, comes back with them, and is not lost meanwhile', async () => {
    const team = await createTeam(world)
    const { skillId, slug } = await submit(team.owner, manifest(), { visibility: 'org', target_org_id: team.id })
    const { member } = team
    expect((await member.send('POST', 'skills', { skillId })).status).toBe(201)
    const runs = async () => {
      const { skills } = await activeFor(world.callAs(member), { slugs: [slug], prompt: 'hello' })
      return skills.map((one) => one.slug)
    }
    const installed = async () => (await member.send('GET', 'skills?filter=installed')).body.skills.length
    expect({ runs: await runs(), installed: await installed() }).toEqual({ runs: [slug], installed: 1 })
    await team.owner.send('DELETE', `orgs/${team.id}/members/${member.userId}`)
    expect({ runs: await runs(), installed: await installed() }).toEqual({ runs: [], installed: 0 })
    expect((await member.send('GET', `skills/${skillId}`)).status).toBe(404)
    await team.join('viewer', member)
    expect({ runs: await runs(), installed: await installed() }).toEqual({ runs: [slug], installed: 1 })
    await team.owner.send('DELETE', `orgs/${team.id}/members/${member.userId}`)
    expect((await member.send('DELETE', 'skills', { skillId })).status).toBe(200)
  })

  test('is set up within bounds', async () => {
    const [ada, bob] = [await world.person(), await world.person()]
    const { skillId } = await submit(ada, manifest())
    await bob.send('POST', 'skills', { skillId })
    const set = (length: number) =>
      bob.send('PATCH', `skills/${skillId}/installation`, { config: { note: 'x'.repeat(length) } })
    expect((await set(16_000)).status).toBe(200)
    const refused = await set(17_000)
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'validation_error', param: 'config' } } })
  })
})
