import { expect, test } from 'bun:test'
import { operatorSender } from '../operators/support'
import { resourceSuite, type Served } from '../suites/resource.suite'
import { createWorld } from '../support/world'

const most = 10
const world = await createWorld({
  config: {
    maxCanvases: most,
    maxPolicies: most,
    maxPreferences: most,
    maxWebhooks: most,
    maxWorkflows: most,
    maxHooks: most,
  },
})
const ops = operatorSender(world)

const files = (await Array.fromAsync(new Bun.Glob('src/*/resource.ts').scan('.'))).sort()
const nouns = (await Promise.all(files.map((file) => import(`../../${file}`)))).flatMap((held) => Object.values(held))

test('every declared resource is tried', () => {
  expect(nouns.map((noun) => (noun as Served['noun']).path)).toEqual([
    '/evi/canvases',
    '/guardrail-policies',
    '/hooks',
    '/routing-preferences',
    '/webhooks',
    '/workflows',
  ])
})

/** Of those that are not told apart by a name. */
const LIKE: Record<string, Served['like']> = {
  '/hooks': {
    order: { event_pattern: 'order.*', skill_slug: 'email-drafter', name: 'Theirs' },
    called: 'name',
    member: 'hook',
  },
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

for (const noun of nouns as Served['noun'][]) {
  const like = LIKE[noun.path]
  resourceSuite({ noun, world, as: ({ send }) => send, ops, most, ...(like ? { like } : {}) })
}
