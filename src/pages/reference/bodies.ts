import type { Json } from '../../kernel/samples'
import { exampleOf } from './example'
import type { Operation, Resolve } from './operations'

/** An id that stands in the samples where a real one belongs. */
const SOME_ID = '3f0c9a52-7b1e-4c57-9d7a-2f6f1b1c8e10'

/** What every server has and anyone may read, by the path of its kind: samples that name it run as they are. */
const SHIPPED: Readonly<Record<string, string>> = { '/models/{id}': 'svc-1-auto', '/skills/{id}': 'email-drafter' }

/** What a person would send first, by operation; others are made from what their schema requires. */
const BODIES: Readonly<Record<string, Json>> = {
  // The built-in engine answers these, too.
  postCompletions: { prompt: 'Count to five slowly', mode: 'auto' },
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
  postSkills: { slug: 'email-drafter' },
  deleteSkills: { slug: 'email-drafter' },
  postSkillsCreate: {
    name: 'Short answers',
    slug: 'short-answers',
    category: 'productivity',
    system_prompt_ext: 'Answer in one sentence.',
  },
  postSkillsSubmit: {
    manifest: {
      name: 'Tide tables',
      slug: 'tide-tables',
      version: '1.0.0',
      description: 'Answers questions about tides.',
      category: 'domain',
      author: { name: 'Mira' },
      systemPromptExtension: 'Answer questions about tides. Name the harbour and the day.',
    },
  },
  postSkillsSandbox: {
    prompt: 'When is high tide in Porto?',
    manifest: {
      name: 'Tide tables',
      slug: 'tide-tables',
      version: '1.0.0',
      description: 'Answers questions about tides.',
      category: 'domain',
      author: { name: 'Mira' },
      systemPromptExtension: 'Answer questions about tides.',
    },
  },
  postSkillsByIdReviews: { rating: 5 },
  patchSkillsById: { description: 'Answers in one sentence.' },
  patchSkillsByIdInstallation: { enabled: true },
  postEviCanvases: { name: 'Help desk' },
  patchEviCanvasesById: { name: 'Help desk' },
  postEviCanvasesByIdTest: { message: 'When is high tide?' },
  postEviCanvasesByIdPublish: { slug: 'help-desk', version: '1.0.0', author: { name: 'Mira' } },
  patchConversationsById: { title: 'Tides' },
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

/** The body that a route's samples send; undefined for a route without a body. */
export function bodyOf({ id, body }: Operation, resolve: Resolve): Json | undefined {
  if (!body) return undefined
  return BODIES[id] ?? (exampleOf(body.schema, resolve, { whole: false }) as Json)
}

/** The path that a route's samples ask: with sample ids, and the query parameters that are required. */
export function pathOf(operation: Operation, resolve: Resolve): string {
  const { path, parameters } = operation
  const ids = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const schema = parameters.find((one) => one.in === 'path' && one.name === name)?.schema ?? {}
    const value = exampleOf(schema, resolve, { whole: false })
    return encodeURIComponent(
      value === 'example'
        ? (operation.method === 'GET' && SHIPPED[operation.path.split('/').slice(0, 3).join('/')]) || SOME_ID
        : String(value),
    )
  })
  const query = parameters
    .filter((one) => one.in === 'query' && one.required)
    .map(
      ({ name, schema }) => `${name}=${encodeURIComponent(String(exampleOf(schema, resolve, { whole: false }, name)))}`,
    )
  return query.length ? `${ids}?${query.join('&')}` : ids
}
