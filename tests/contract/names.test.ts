// Both databases: every route is asked, and each has statements.
import { describe, expect, test } from 'bun:test'
import { createWorld } from '../support/world'

type Schema = {
  $ref?: string
  description?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
}
type Content = { content?: { 'application/json'?: { schema: Schema } } }
type Operation = { tags: string[]; requestBody?: Content; responses: Record<string, Content> }
type Document = { paths: Record<string, Record<string, Operation>>; components: { schemas: Record<string, Schema> } }

const world = await createWorld()
const { body } = await world.send('GET', '/openapi.json')
const { paths, components } = body as Document

/** A route: its body and its answer by the names that generated clients give them, and the statuses it may have. */
const DOCUMENTED: [route: string, tag: string, body: string | null, answer: string | null, statuses: string][] = [
  ['POST /keys', 'API keys', 'NewKey', 'ApiKeyWithSecretReply', '201 400 401 403 404 409'],
  ['GET /keys', 'API keys', null, null, '200 400 401 403'],
  ['GET /keys/{id}', 'API keys', null, 'ApiKeyReply', '200 401 403 404'],
  ['PUT /keys/{id}', 'API keys', 'KeyPatch', 'ApiKeyReply', '200 400 401 403 404'],
  ['PATCH /keys/{id}', 'API keys', 'KeyPatch', 'ApiKeyReply', '200 400 401 403 404'],
  ['DELETE /keys/{id}', 'API keys', null, 'KeyRevokedReply', '200 401 403 404'],
  ['POST /keys/{id}/rotate', 'API keys', 'KeyRotation', 'RotatedKeyReply', '200 400 401 403 404 409'],
  ['GET /billing/limits', 'Billing', null, 'BillingLimitsReply', '200 400 401 403'],
  ['PATCH /billing/limits', 'Billing', 'BillingLimitsChange', 'BillingLimitsReply', '200 400 401 403 409'],
  ['POST /billing/checkout', 'Billing', 'NewCheckout', 'CheckoutReply', '200 400 401 403 409'],
  ['POST /billing/portal', 'Billing', 'NewPortal', 'BillingPortalReply', '200 400 401 403 409'],
  ['POST /billing/webhook', 'Billing', null, null, '200 400 413 415'],
  ['GET /rate-limits', 'Rate limits', null, null, '200 401 403'],
  [
    ...([
      'POST /rate-limits/request-increase',
      'Rate limits',
      'NewRateLimitIncrease',
      'RateLimitIncreaseReply',
    ] as const),
    '201 400 401 403 404 409',
  ],
  [
    ...([
      'POST /rate-limits/requests/{id}/decision',
      'Rate limits',
      'RateLimitDecision',
      'RateLimitIncreaseReply',
    ] as const),
    '200 400 401 403 404 409',
  ],
]
/** What the edge may answer on any route that is signed in to, and on those with a body. */
const EDGE = ['413', '429', '500', '503', '504']

describe('what generated clients are made from', () => {
  test.each(DOCUMENTED)('%s keeps its names and its statuses', (route, tag, body, answer, statuses) => {
    const [method, path] = route.split(' ') as [string, string]
    const { tags, requestBody, responses } = paths[path]![method.toLowerCase()]!
    const nameOf = (content: Content | undefined) =>
      (content?.content?.['application/json']?.schema as { $ref?: string } | undefined)?.$ref?.split('/').at(-1) ?? null
    expect(tags).toEqual([tag])
    expect(nameOf(requestBody)).toBe(body)
    expect(nameOf(responses[statuses.slice(0, 3)])).toBe(answer)
    const own = new Set([...statuses.split(' '), ...EDGE])
    if (body) own.add('415')
    if (route.endsWith('/webhook')) own.delete('429')
    expect(Object.keys(responses).toSorted()).toEqual([...own].toSorted())
  })

  test('such as the parts of a key', () => {
    expect(Object.keys(components.schemas)).toEqual(expect.arrayContaining(['BrandSoul', 'RoutingRule', 'ApiKey']))
  })
})

/** What a name does not say by itself, of money, keys and limits: which cents, whose, what null means. */
const DESCRIBED: Record<string, string[]> = {
  NewKey: ['scopes', 'test', 'daily_cap_cents', 'monthly_cap_cents', 'allowed_origins', 'chat_parameters'],
  KeyPatch: ['scopes', 'daily_cap_cents', 'monthly_cap_cents', 'allowed_origins', 'chat_parameters'],
  KeyRotation: ['grace_period_seconds'],
  ApiKeyReply: ['prefix', 'status', 'chat_parameters', 'confidence_floor_overrides'],
  ApiKeyWithSecretReply: ['key'],
  RoutingRule: ['pattern'],
  BillingLimitsChange: ['daily_cap_cents', 'monthly_cap_cents', 'low_balance_threshold_cents', 'scope'],
  BillingLimitsReply: [
    ...['daily_cap_cents', 'monthly_cap_cents', 'low_balance_threshold_cents', 'auto_top_up.last'],
    ...['usage.daily_used_cents', 'usage.monthly_used_cents', 'usage.reserved_cents'],
  ],
  NewCheckout: ['success_url', 'cancel_url', 'scope'],
  CheckoutReply: ['checkout_url'],
  NewPortal: ['return_url', 'scope'],
  RateLimitIncreaseReply: ['user_id', 'key_id', 'reason'],
}
const described = Object.entries(DESCRIBED).flatMap(([name, members]) => members.map((member) => ({ name, member })))

describe('what a name does not say', () => {
  /** Of itself, or of what it is when it is not null. */
  const isDescribed = ({ description, anyOf = [] }: Schema): boolean => !!description || anyOf.some(isDescribed)

  test.each(described)('is said of $member of $name', ({ name, member }) => {
    let schema = components.schemas[name]!
    for (const part of member.split('.')) schema = schema.properties![part]!
    expect(isDescribed(schema)).toBe(true)
  })

  test('is said of a limit: what its end is counted in, and which modes it counts', () => {
    const { usage } = paths['/rate-limits']!.get!.responses['200']!.content!['application/json']!.schema.properties!
    const { requests, modes } = usage!.properties!
    expect(isDescribed(requests!.properties!.reset!)).toBe(true)
    expect(isDescribed(modes!)).toBe(true)
  })
})
