import type { Operation, Parameter, Resolve, Schema } from './operations'
import answers from './recorded.json' with { type: 'json' }
import type { Json } from './samples'

/** Placeholder for a real id in the samples. */
const SOME_ID = '3f0c9a52-7b1e-4c57-9d7a-2f6f1b1c8e10'

/** Public items that every server has, by the path of their kind. Samples with these ids run unchanged. */
const SHIPPED: Readonly<Record<string, string>> = { '/models/{id}': 'svc-1-auto', '/skills/{id}': 'email-drafter' }

const TIDES = {
  name: 'Tide tables',
  slug: 'tide-tables',
  version: '1.0.0',
  description: 'Answers questions about tides.',
  category: 'domain',
  author: { name: 'Mira' },
}

/** Typical first bodies, by operation. Others are generated from the required members of their schema. */
const BODIES: Readonly<Record<string, Json>> = {
  // The built-in engine answers these too.
  postCompletions: { prompt: 'Count to five slowly', mode: 'auto' },
  postResponses: { model: 'svc-1-auto', input: 'Explain recursion in one sentence.' },
  postResponsesInputTokens: { model: 'svc-1-auto', input: 'Explain recursion in one sentence.' },
  postChatCompletions: {
    model: 'svc-1-auto',
    messages: [{ role: 'user', content: 'Count to five slowly' }],
  },
  postKeys: { name: 'My app', scopes: ['completions'] },
  putKeysById: { name: 'My app' },
  patchKeysById: { name: 'My app' },
  postKeysByIdRotate: { grace_period_seconds: 3_600 },
  postOrgs: { name: 'Acme' },
  patchOrgsById: { name: 'Acme' },
  patchSettings: { timezone: 'Europe/Berlin' },
  patchBillingLimits: { monthly_cap_cents: 5_000 },
  postBillingCheckout: { amount_cents: 1_000 },
  postRateLimitsRequestIncrease: {
    requested_tier: 'pro',
    use_case: 'Answers for the help desk of a shop',
    expected_volume: '20,000 requests a day',
  },
  postRoutingPreferences: { name: 'Code first', rules: [{ pattern: 'stack trace', target_mode: 'code' }] },
  patchRoutingPreferencesById: { name: 'Code first' },
  postRoutingPreferencesPreview: { prompt: 'Explain tides in two sentences.' },
  postRoutingPreferencesSuggestRule: { expected_mode: 'code' },
  postRoutingCorrections: { prompt: 'Explain this stack trace', expected_mode: 'code' },
  putKeysByIdRoutingRules: { rules: [{ pattern: 'stack trace', target_mode: 'code' }] },
  postGuardrailPolicies: {
    name: 'No personal data',
    rules: [{ guardrail_id: 'pii', phase: 'input', verdict: 'redact' }],
  },
  patchGuardrailPoliciesById: { name: 'No personal data' },
  postGuardrailPoliciesByIdEvaluate: { text: 'Write to ada@example.com', phase: 'input' },
  postGuardrailPoliciesPreview: {
    rules: [{ guardrail_id: 'pii', phase: 'input', verdict: 'redact' }],
    text: 'Write to ada@example.com',
    phase: 'input',
  },
  postSkills: { slug: 'email-drafter' },
  deleteSkills: { slug: 'email-drafter' },
  postSkillsCreate: {
    name: 'Short answers',
    slug: 'short-answers',
    category: 'productivity',
    system_prompt_ext: 'Answer in one sentence.',
  },
  postSkillsSubmit: {
    manifest: { ...TIDES, systemPromptExtension: 'Answer questions about tides. Name the harbour and the day.' },
  },
  postSkillsSandbox: {
    prompt: 'When is high tide in Porto?',
    manifest: { ...TIDES, systemPromptExtension: 'Answer questions about tides.' },
  },
  postSkillsByIdReviews: { rating: 5 },
  patchSkillsById: { description: 'Answers in one sentence.' },
  patchSkillsByIdInstallation: { enabled: true },
  postEviCanvases: { name: 'Help desk' },
  patchEviCanvasesById: { name: 'Help desk' },
  postEviCanvasesByIdTest: { message: 'When is high tide?' },
  postEviCanvasesByIdPublish: { slug: 'help-desk', version: '1.0.0', author: { name: 'Mira' } },
  patchConversationsById: { title: 'Tides' },
  postConversations: { items: [{ role: 'user', content: 'When is high tide?' }], metadata: { topic: 'tides' } },
  postConversationsById: { metadata: { topic: 'tides' } },
  postConversationsByIdItems: { items: [{ role: 'user', content: 'When is high tide?' }] },
  postWorkflows: {
    name: 'Greeting',
    triggerType: 'manual',
    steps: [{ name: 'say', type: 'transform', config: { template: 'Hello' } }],
  },
  patchWorkflowsById: { enabled: false },
  postWorkflowsByIdRun: { triggerData: { name: 'Ada' } },
  postCode: { prompt: 'A function that reverses a string', language: 'typescript' },
  postDocuments: { prompt: 'One page about tides', format: 'pdf' },
  postImages: { prompt: 'A lighthouse at dusk', aspect_ratio: '16:9' },
  postImagesGenerations: { prompt: 'A lighthouse at dusk', n: 1 },
  postAudioTts: { text: 'High tide is at seven.' },
  postAudioSpeech: { input: 'High tide is at seven.', voice: 'alloy' },
  postResearch: { prompt: 'How do tidal power stations work?', depth: 'basic' },
  postVideo: { prompt: 'Waves on a beach', duration: '5s' },
  postWebhooks: { url: 'https://example.com/hook', event_types: ['job.completed'] },
  patchWebhooksById: { enabled: false },
  postEvents: { orgId: SOME_ID, eventType: 'order.paid', payload: { total: 5 } },
  putKeysByIdRoutingPreference: { routing_preference_id: SOME_ID },
  putKeysByIdGuardrails: { guardrail_policy_id: SOME_ID },
  postVoiceAction: { tool: 'web_search', arguments: { query: 'high tide Porto' } },
  postBrowserSessionsByIdActions: { tool: 'browser_navigate', arguments: { url: 'https://example.com/' } },
  postBrowserSessions: { url: 'https://example.com/' },
  postHooks: { hook_preset_id: 'task.overdue.summary' },
  patchHooksById: { enabled: false },
  postIframes: { name: 'Shop chat', api_key_id: SOME_ID },
  postIframesByIdVerify: { domain: 'shop.example' },
  postIframesByIdConversationsBySessionIdHandover: { to: SOME_ID },
  postIframesByIdSessions: { page_url: 'https://shop.example/prices' },
  patchIframesById: { name: 'Shop chat' },
  postIframesByIdDuplicate: { name: 'Shop chat 2' },
}

/** The body in a route's samples. Undefined for a route without a body. */
export function bodyOf({ id, body }: Operation, resolve: Resolve): Json | undefined {
  if (!body) return undefined
  return BODIES[id] ?? (exampleOf(body.schema, resolve, { whole: false }) as Json)
}

/** A sample for an id in the path of a route. */
export function idIn({ method, path }: Operation, { schema }: Parameter, resolve: Resolve): string {
  const value = exampleOf(schema, resolve, { whole: false })
  if (value !== 'example') return String(value)
  return (method === 'GET' && SHIPPED[path.split('/').slice(0, 3).join('/')]) || SOME_ID
}

/** The path in a route's samples: with sample ids, and the required query parameters. */
export function pathOf(operation: Operation, resolve: Resolve): string {
  const of = (place: string) => operation.parameters.filter((one) => one.in === place)
  const ids = of('path').reduce(
    (path, one) => path.replace(`{${one.name}}`, encodeURIComponent(idIn(operation, one, resolve))),
    operation.path,
  )
  const query = of('query')
    .filter(({ required }) => required)
    .map(
      ({ name, schema }) => `${name}=${encodeURIComponent(String(exampleOf(schema, resolve, { whole: false }, name)))}`,
    )
  return query.length ? `${ids}?${query.join('&')}` : ids
}

/**
 * An example answer of a route: a shortened answer recorded in a test, otherwise one generated from the schema.
 * `tests/pages/reference/record.ts` writes the file, and removes answers that no longer match.
 */
export function answerExample({ id, success }: Operation, resolve: Resolve): unknown {
  const recorded = (answers as Readonly<Record<string, unknown>>)[id]
  return recorded ?? exampleOf(success.schema!, resolve, { whole: true })
}

/** Maximum depth of nested objects, so that an example stays readable. */
const DEPTH = 4

/** Texts for the patterns of schemas. The first match is used. */
const TEXTS = [
  'example',
  'acme-notes',
  'completion.created',
  'id_0123456789abcdefABCDEFGH',
  '2026-11-21',
  '2026-11-21T09',
  '1.0.0',
  '60s',
  'https://example.com/page',
  'ada@example.com',
  '#1d4ed8',
  'MIT',
  '0'.repeat(64),
]

const FORMATS: Record<string, string> = {
  'date-time': '2026-11-21T09:30:00.000Z',
  uuid: '3f0c9a52-7b1e-4c57-9d7a-2f6f1b1c8e10',
  email: 'ada@example.com',
  uri: 'https://example.com/page',
}

/** Texts by the member's name, if a generic word would be unclear. */
const NAMED: Record<string, string> = {
  prompt: 'Count to five slowly',
  url: 'https://example.com/hook',
  name: 'My first one',
  email: 'ada@example.com',
  password: 'correct horse battery',
  content: 'Tides follow the moon.',
  text: 'Tides follow the moon.',
  reason: 'Asked for by the team',
  endpoint: '/v1/chat/completions',
  input_file_id: 'file-0123456789abcdefABCDEFGH',
}

type Options = { /** Also includes optional members. */ whole: boolean }

/** A value that matches a schema. The same one each time. */
export function exampleOf(schema: Schema, resolve: Resolve, { whole }: Options, name = '', depth = DEPTH): unknown {
  const found = resolve(schema)
  const declared = schema.examples?.[0] ?? found.examples?.[0] ?? found.const ?? schema.default ?? found.default
  if (declared !== undefined) return declared
  if (found.enum) return found.enum[0]
  const choices = found.anyOf ?? found.oneOf
  if (choices) {
    const choice = choices.find(({ type }) => type !== 'null') ?? choices[0]!
    return exampleOf(choice, resolve, { whole }, name, depth)
  }
  if (found.allOf) {
    const parts = found.allOf.map((part) => exampleOf(part, resolve, { whole }, name, depth))
    return Object.assign({}, ...parts)
  }
  const type = Array.isArray(found.type) ? found.type[0] : found.type
  if (type === 'string') return textFor(found, name)
  if (type === 'integer' || type === 'number') return numberFor(found)
  if (type === 'boolean') return false
  if (type === 'null') return null
  if (type === 'array') {
    const isShort = depth <= 1 && !found.minItems
    return isShort || !found.items
      ? []
      : [exampleOf(found.items, resolve, { whole }, name.replace(/s$/, ''), depth - 1)]
  }
  const { properties = {}, required = [] } = found
  const shown = Object.entries(properties).filter(([member]) => required.includes(member) || (whole && depth > 1))
  return Object.fromEntries(
    shown.map(([member, part]) => [member, exampleOf(part, resolve, { whole }, member, depth - 1)]),
  )
}

function textFor({ pattern, format, minLength = 0, maxLength = 1_000 }: Schema, name: string): string {
  if (format && FORMATS[format]) return FORMATS[format]
  const fits = (text: string) =>
    text.length >= minLength && text.length <= maxLength && (!pattern || new RegExp(pattern, 'u').test(text))
  const prefixed = /^\^([a-z_]+[_-])\[0-9A-Za-z\]\{24\}\$$/.exec(pattern ?? '')
  if (prefixed) return `${prefixed[1]}0123456789abcdefABCDEFGH`
  const named = NAMED[name]
  if (named && fits(named)) return named
  return TEXTS.find(fits) ?? 'example'.padEnd(minLength, 'x').slice(0, maxLength)
}

function numberFor({ minimum, maximum }: Schema): number {
  const min = minimum ?? 0
  return maximum !== undefined && min > maximum ? maximum : min
}
