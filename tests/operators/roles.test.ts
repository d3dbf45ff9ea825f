import { describe, expect, test } from 'bun:test'
import { OPERATOR_ROLES, type OperatorRole } from '../../src/kernel/caller'
import { createWorld } from '../support/world'
import { operatorSender, remoteSender } from './support'
import { operatorRulesOf } from './table'

const world = await createWorld({ config: { opsListen: '127.0.0.1:0' } })
const here = operatorSender(world)
const senders = Object.fromEntries(
  await Promise.all(
    OPERATOR_ROLES.map(async (role) => {
      const { body } = await here('POST', 'operators', { name: role, role })
      return [role, remoteSender(world, body.key)] as const
    }),
  ),
) as Record<OperatorRole, ReturnType<typeof remoteSender>>

const rules = operatorRulesOf(world)
const routes = world.app
  .remoteOps!.routes.filter(({ method }) => method !== 'HEAD')
  .map(({ method, path }) => ({ method, path }))

/** Whose a change is besides the admin's; a route that is not named here is the admin's alone. */
const OPENED: Record<string, OperatorRole[]> = {
  credits: ['billing'],
  tiers: ['billing'],
  limits: ['billing'],
  submissions: ['reviewer'],
  skills: ['reviewer'],
}
const ALL = [
  'POST /ops/v1/keys/check',
  'POST /ops/v1/cache/find',
  'POST /ops/v1/guardrail-policies/:id/evaluate',
  'POST /ops/v1/routing-preferences/preview',
  'POST /ops/v1/routing-preferences/replay',
]

/** Who answers visitors may take their chats over, and helps people in who have lost their password. */
const OF_SUPPORT =
  /^\/ops\/v1\/(iframes\/:id\/conversations\/:sessionId\/(takeover|messages|typing|notes|handover|draft|release|close)|browser\/sessions\/:id\/link|users\/:ref\/console-link)$/

/** Whole answers of what people wrote; what skills say is for those who review them, too. */
const SHOWS_WHAT_PEOPLE_WRITE = [
  '/ops/v1/audit/export',
  '/ops/v1/browser/sessions/:id/recording',
  '/ops/v1/conversations/:id/messages',
  '/ops/v1/iframes/:id/conversations/:sessionId',
  '/ops/v1/webhooks/:id/deliveries/:deliveryId',
  'POST /ops/v1/routing-preferences/suggest-rule',
]
const SHOWS_SKILLS = [
  '/ops/v1/skills/:ref',
  '/ops/v1/skills/:ref/reviews',
  '/ops/v1/skills/:ref/versions',
  '/ops/v1/submissions/:ref',
  '/ops/v1/submissions/:ref/checks',
  '/ops/v1/submissions/:ref/diff',
]

function expected(role: OperatorRole, method: string, path: string): boolean {
  const area = path.split('/')[3] ?? ''
  if (role === 'admin') return true
  if (area === 'operators') return false
  if (role === 'support' && method === 'POST' && OF_SUPPORT.test(path)) return true
  const reading = method === 'GET' ? path : `${method} ${path}`
  if (SHOWS_WHAT_PEOPLE_WRITE.includes(reading)) return role === 'support'
  if (SHOWS_SKILLS.includes(reading)) return role === 'support' || role === 'reviewer'
  if (reading === 'POST /ops/v1/verify') return role === 'support'
  return method === 'GET' || ALL.includes(`${method} ${path}`) || (OPENED[area] ?? []).includes(role)
}

describe('what a role may call', () => {
  test('there are routes to ask', () => {
    expect(routes.length).toBeGreaterThan(25)
  })

  /**
   * The body is broken on purpose: who may not call is told so before anything is read, who may is told of the body.
   */
  const cells = OPERATOR_ROLES.flatMap((role) => routes.map((route) => ({ role, ...route })))
  test.each(cells)('$role: $method $path', async ({ role, method, path }) => {
    const isChange = !['GET', 'DELETE'].includes(method)
    const may = expected(role, method, path)
    expect(rules.mayCall(role, method, path)).toBe(may)
    // What an admin's deletion or a bodiless order would really do is not for this table to find out.
    if (may && method !== 'GET') return
    if (may && /audit|export/.test(path)) return
    const reply = await senders[role](method, path.replace(/:\w+/g, 'nobody'), isChange ? '{"broken":' : undefined)
    expect(reply.status === 403).toBe(!may)
    if (!may) expect(reply.body.error).toMatchObject({ code: 'forbidden', type: 'permission_error' })
  })

  test('a refusal changes nothing and names the role', async () => {
    const ada = await world.person({ cents: 0 })
    expect((await senders.viewer('POST', 'credits', { owner: ada.userId, amount_cents: 500 })).body.error.message).toBe(
      'The role viewer cannot POST /ops/v1/credits. Ask an operator with another role.',
    )
    expect((await here('GET', `credits?owner=${ada.userId}`)).body.balance_cents).toBe(0)
    expect((await senders.billing('POST', 'credits', { owner: ada.userId, amount_cents: 500 })).status).toBe(200)
    expect((await here('GET', `credits?owner=${ada.userId}`)).body.balance_cents).toBe(500)
  })

  test('a billing key moves tiers and changes nothing else of a key', async () => {
    const ada = await world.person({ tier: 'free' })
    expect((await senders.billing('PUT', `tiers/${ada.keyId}`, { tier: 'pro' })).body.tier).toBe('pro')
    expect((await senders.billing('PUT', `keys/${ada.keyId}`, { name: 'mine' })).status).toBe(403)
    expect((await senders.billing('DELETE', `keys/${ada.keyId}`)).status).toBe(403)
    expect((await ada.send('GET', 'models')).status).toBe(200)
  })
})
