import { describe, expect, test } from 'bun:test'
import SwaggerParser from '@apidevtools/swagger-parser'
import { checker, type TSchema } from '../../src/kernel/schema'
import { NewPrices } from '../../src/operators/schema-engines'
import { Manifest } from '../../src/skills/schema'
import { createWorld } from '../support/world'

const world = await createWorld()
const { body } = await world.send('GET', '/openapi.json')
type Content = { content: { 'application/json': { schema: TSchema } } }
type Operation = {
  requestBody: Content
  responses: Record<string, Content>
  parameters?: { in: string; name: string; required?: boolean }[]
}
type Document = { paths: Record<string, Record<string, Operation>> }
const document = (await SwaggerParser.dereference(body)) as unknown as Document

/** A request: its route, what its body has besides, and what each member takes. */
type Bounded = [route: string, besides: object, members: Record<string, Bound>]
/** The least and the most: of a number itself, of a text its characters, of a list its items, which are all alike. */
type Bound = { number: [number, number] } | { text: [number, number] } | { list: [number, number]; item: unknown }

const MAX_CAP = 1_000_000_000_000
const KEY: Record<string, Bound> = {
  name: { text: [1, 128] },
  scopes: { list: [0, 32], item: 'billing' },
  rpm_limit: { number: [1, 1_000_000_000] },
  tpm_limit: { number: [1, 1_000_000_000] },
  daily_cap_cents: { number: [1, 1_000_000_000] },
  monthly_cap_cents: { number: [1, 1_000_000_000] },
  allowed_origins: { list: [0, 50], item: 'https://app.example' },
  'allowed_origins.0': { text: [1, 300] },
  'brand_soul.persona': { text: [0, 4_000] },
  'brand_soul.tone': { text: [0, 1_000] },
  'brand_soul.knowledge': { list: [0, 50], item: 'fact' },
  'brand_soul.knowledge.0': { text: [0, 4_000] },
  'brand_soul.constraints': { list: [0, 50], item: 'rule' },
  'brand_soul.constraints.0': { text: [0, 1_000] },
}
const TOP_UP = { enabled: true, threshold_cents: 1, amount_cents: 500 }
const ORDER = { requested_tier: 'pro', use_case: 'more', expected_volume: 'more' }

/** What money, keys and limits take: docs/api.md 18.2, 20 and 21. */
const BOUNDED: Bounded[] = [
  ['POST /keys', {}, { ...KEY, org_id: { text: [0, 64] } }],
  ['PUT /keys/{id}', {}, KEY],
  ['PATCH /keys/{id}', {}, KEY],
  ['POST /keys/{id}/rotate', {}, { grace_period_seconds: { number: [0, 604_800] } }],
  [
    'PATCH /billing/limits',
    {},
    {
      daily_cap_cents: { number: [1, MAX_CAP] },
      monthly_cap_cents: { number: [1, MAX_CAP] },
      low_balance_threshold_cents: { number: [0, MAX_CAP] },
    },
  ],
  [
    'PATCH /billing/limits',
    { auto_top_up: TOP_UP },
    {
      'auto_top_up.threshold_cents': { number: [1, MAX_CAP] },
      'auto_top_up.amount_cents': { number: [500, 1_000_000] },
    },
  ],
  [
    'POST /billing/checkout',
    { amount_cents: 500 },
    { amount_cents: { number: [500, 1_000_000] }, success_url: { text: [1, 2_048] }, cancel_url: { text: [1, 2_048] } },
  ],
  ['POST /billing/portal', {}, { return_url: { text: [1, 2_048] } }],
  [
    'POST /rate-limits/request-increase',
    ORDER,
    { use_case: { text: [1, 2_000] }, expected_volume: { text: [1, 2_000] } },
  ],
  ['POST /rate-limits/requests/{id}/decision', { decision: 'approve' }, { reason: { text: [1, 2_000] } }],
]

const operationOf = (route: string): Operation => {
  const [method, path] = route.split(' ') as [string, string]
  return document.paths[path]![method.toLowerCase()]!
}
const schemaIn = ({ content }: Content) => content['application/json'].schema

function boundOf(bound: Bound) {
  if ('number' in bound) return { range: bound.number, of: (size: number): unknown => size }
  if ('text' in bound) return { range: bound.text, of: (size: number): unknown => 'x'.repeat(size) }
  return { range: bound.list, of: (size: number): unknown => Array.from({ length: size }, () => bound.item) }
}

/** The body with a value at a path such as `brand_soul.knowledge.0`. */
function withAt(besides: object, path: string, value: unknown): object {
  const [name, ...rest] = path.split('.') as [string, ...string[]]
  const inner = (besides as Record<string, unknown>)[name]
  if (!rest.length) return { ...besides, [name]: value }
  if (rest.length === 1 && rest[0] === '0') return { ...besides, [name]: [value] }
  return { ...besides, [name]: withAt((inner as object) ?? {}, rest.join('.'), value) }
}

const cases = BOUNDED.flatMap(([route, besides, members]) =>
  Object.entries(members).map(([path, bound]) => ({ route, besides, path, bound })),
)

describe('what a body may hold at most and at least', () => {
  test.each(cases)('$route takes $path up to its bounds, and no more', ({ route, besides, path, bound }) => {
    const check = checker(schemaIn(operationOf(route).requestBody))
    const { range, of } = boundOf(bound)
    const [min, max] = range
    const taken = (size: number) => check.is(withAt(besides, path, of(size)))
    expect({ min: taken(min), max: taken(max) }).toEqual({ min: true, max: true })
    expect(taken(max + 1)).toBe(false)
    if (min > 0 || 'number' in bound) expect(taken(min - 1)).toBe(false)
  })

  test.each(BOUNDED.map(([route]) => route))('%s takes an object', (route) => {
    const check = checker(schemaIn(operationOf(route).requestBody))
    for (const other of [null, [], 'text', 1]) expect(check.is(other)).toBe(false)
  })
})

const HEADERS = (name: string) => ({ url: 'https://a.example', headers: { [name]: 'x' } })
const MANIFEST = {
  ...{ name: 'n', slug: 'aa', version: '1.0.0', description: 'd', category: 'domain', author: { name: 'a' } },
  systemPromptExtension: 's',
}

const queryMembers = Object.entries(document.paths).flatMap(([path, { get }]) => {
  const members = (get?.parameters ?? []).filter((member) => member.in === 'query')
  const isFree = !path.includes('{') && !members.some(({ required }) => required)
  return isFree ? members.map(({ name }) => ({ path, name })) : []
})

test('a query is refused by the name of its member, in every list', async () => {
  const person = await world.person()
  const replies = await Promise.all(
    queryMembers.map(({ path, name }) => person.send('GET', `${path.slice(1)}?${name}=%01-1`)),
  )
  const refused = replies.flatMap(({ status, body }, at) => (status === 400 ? { at, body } : []))
  expect(refused.length).toBeGreaterThan(50)
  for (const { at, body } of refused) expect({ ...queryMembers[at], name: body.error.param }).toEqual(queryMembers[at]!)
})

describe('what the names in a record may have', () => {
  test.each([
    [
      'POST /completions',
      128,
      (name: string) => ({ tools: [{ name: 't', description: '', endpoint: HEADERS(name) }] }),
    ],
    [
      ...(['POST /completions', 128] as const),
      (name: string) => {
        const { headers } = HEADERS(name)
        return { tools: [{ type: 'mcp', server_label: 'a', server_url: 'https://a.example', headers }] }
      },
    ],
    ['POST /iframes/{id}/sessions/{sessionId}/identify', 64, (name: string) => ({ context: { [name]: 'x' } })],
    [
      ...(['a manifest', 128] as const),
      (name: string) => ({ ...MANIFEST, tools: [{ name: 't', description: '', endpoint: HEADERS(name) }] }),
    ],
    ['PUT /ops/v1/engines/prices', 64, (name: string) => ({ prices: { [name]: null } })],
  ])('%s: at most %i characters', (route, max, bodyWith) => {
    const known: Record<string, TSchema> = { 'a manifest': Manifest, 'PUT /ops/v1/engines/prices': NewPrices }
    const check = checker(known[route] ?? schemaIn(operationOf(route).requestBody))
    const taken = (length: number) => check.is({ prompt: 'p', ...bodyWith('n'.repeat(length)) })
    expect([1, max, max + 1, 0].map(taken)).toEqual([true, true, false, false])
  })
})

describe('what answers look like', () => {
  const answerOf = (route: string) => schemaIn(operationOf(route).responses['200']!) as unknown as Nested
  type Nested = TSchema & { properties: Record<string, Nested>; items: Nested }

  test('the time until a limit is free again is in whole seconds (docs/api.md 21)', () => {
    const check = checker(answerOf('GET /rate-limits').properties.usage!.properties.requests!.properties.reset!)
    for (const good of ['0s', '7s', '60s']) expect(check.is(good)).toBe(true)
    for (const bad of ['s', '60', '6.5s', '-1s', '60s.', 'in 60s', '']) expect(check.is(bad)).toBe(false)
  })

  test('the confidence of a routing rule is from 0.5 to 0.99 (docs/api.md 13)', () => {
    const check = checker(answerOf('GET /keys/{id}').properties.routing_rules!.items.properties.confidence!)
    expect([0.49, 0.5, 0.99, 1].map(check.is)).toEqual([false, true, true, false])
  })

  test('what is bound to a key is named by a UUID, or by nothing (docs/api.md 20)', () => {
    const { routing_preference_id, guardrail_policy_id } = answerOf('GET /keys/{id}').properties
    for (const schema of [routing_preference_id!, guardrail_policy_id!]) {
      const check = checker(schema)
      expect([crypto.randomUUID(), null, 'mine', ''].map(check.is)).toEqual([true, true, false, false])
    }
  })
})
