import { expect, test } from 'bun:test'
import { operatorSender } from '../operators/support'
import { resourceSuite, type Served } from '../suites/resource.suite'
import { createWorld } from '../support/world'

const most = 10
const world = await createWorld({ config: { maxPolicies: most, maxPreferences: most } })
const ops = operatorSender(world)

const files = (await Array.fromAsync(new Bun.Glob('src/*/resource.ts').scan('.'))).sort()
const nouns = (await Promise.all(files.map((file) => import(`../../${file}`)))).flatMap((held) => Object.values(held))

test('every declared resource is tried', () => {
  expect(nouns.map((noun) => (noun as Served['noun']).path)).toEqual(['/guardrail-policies', '/routing-preferences'])
})

for (const noun of nouns) resourceSuite({ noun: noun as Served['noun'], world, as: ({ send }) => send, ops, most })
