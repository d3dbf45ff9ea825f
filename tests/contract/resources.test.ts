// Both databases: every route is asked, and each has statements.
import { expect, test } from 'bun:test'
import { operatorSender } from '../operators/support'
import { resourceSuite, type Served } from '../suites/resource.suite'
import { createWorld } from '../support/world'

const max = 10
const world = await createWorld({
  config: {
    maxWidgets: max,
    maxCanvases: max,
    maxPolicies: max,
    maxPreferences: max,
    maxWebhooks: max,
    maxWorkflows: max,
    maxHooks: max,
    maxViews: max,
    maxTestCases: max,
  },
})
const ops = operatorSender(world)

const files = (await Array.fromAsync(new Bun.Glob('src/**/resource.ts').scan('.'))).sort()
const nouns = (await Promise.all(files.map((file) => import(`../../${file}`)))).flatMap((held) => Object.values(held))

test('every declared resource is tried', () => {
  expect(nouns.map((noun) => (noun as Served['resource']).path)).toEqual(
    `
    /evi/canvases /hooks /workflows /test-cases /guardrail-policies /views /routing-preferences /webhooks /iframes
  `
      .trim()
      .split(/\s+/),
  )
})

/** Of those that are not told apart by a name. */
const LIKE: Record<string, Served['like']> = {
  '/hooks': {
    order: { event_pattern: 'order.*', skill_slug: 'email-drafter', name: 'Theirs' },
    called: 'name',
    member: 'hook',
  },
  '/views': { order: { name: 'Theirs', section: 'requests', query: 'status=5xx' }, called: 'name' },
  '/test-cases': { order: { name: 'Theirs', request: { prompt: 'hello' }, checks: [] }, called: 'name' },
  '/webhooks': {
    order: { url: 'https://203.0.112.7/hook', event_types: ['order.*'], description: 'Theirs' },
    called: 'description',
  },
  '/workflows': {
    order: {
      name: 'Theirs',
      triggerType: 'manual',
      steps: [{ type: 'transform', name: 'a', config: { template: 1 } }],
    },
    called: 'name',
  },
}

/** What keys are bound to. */
const BOUND: Record<string, NonNullable<Served['bound']>> = {
  '/guardrail-policies': { put: 'guardrails', member: 'guardrail_policy_id' },
  '/routing-preferences': { put: 'routing-preference', member: 'routing_preference_id' },
}

/** A widget has the key of whose it is. */
const keys = new Map<string, string>()
const withKey: Served['as'] = ({ send, userId, keyId }) => {
  keys.set(userId, keyId)
  return (method, path, body, headers) =>
    send(method, path, method === 'POST' && body ? { api_key_id: keyId, ...body } : body, headers)
}
const opsFor = (noun: Served['resource']): Served['ops'] =>
  noun.path === '/iframes'
    ? (method, path, body, headers) => {
        const api_key_id = keys.get(path.match(/owner=([^&]+)/)?.[1] ?? '') ?? ''
        return ops(method, path, method === 'POST' ? { api_key_id, ...body } : body, headers)
      }
    : ops

for (const noun of nouns as Served['resource'][]) {
  const [like, bound] = [LIKE[noun.path], BOUND[noun.path]]
  resourceSuite({
    resource: noun,
    world,
    as: noun.path === '/iframes' ? withKey : ({ send }) => send,
    ops: opsFor(noun),
    max,
    ...(like ? { like } : {}),
    ...(bound ? { bound } : {}),
  })
}
