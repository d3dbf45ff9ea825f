import { exampleOf } from './example'
import type { Operation, Resolve } from './operations'

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** What a person would send first, by operation; others are made from what their schema requires. */
const BODIES: Readonly<Record<string, Json>> = {
  postCompletions: { prompt: 'Explain tides in two sentences.', mode: 'auto' },
  postChatCompletions: {
    model: 'svc-1-auto',
    messages: [{ role: 'user', content: 'Explain tides in two sentences.' }],
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
  postRoutingCorrections: { prompt: 'Explain this stack trace', expected_mode: 'code' },
  putKeysByIdRoutingRules: { rules: [{ pattern: 'stack trace', target_mode: 'code' }] },
  postGuardrailPolicies: {
    name: 'No personal data',
    rules: [{ guardrail_id: 'pii', phase: 'input', verdict: 'redact' }],
  },
  patchGuardrailPoliciesById: { name: 'No personal data' },
  postGuardrailPoliciesByIdEvaluate: { text: 'Write to ada@example.com', phase: 'input' },
  postSkills: { slug: 'tide-tables' },
  deleteSkills: { slug: 'tide-tables' },
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
  patchSkillsById: { description: 'Answers in one sentence.' },
  patchSkillsByIdInstallation: { enabled: true },
  postEviCanvases: { name: 'Help desk' },
  patchEviCanvasesById: { name: 'Help desk' },
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
  postBrowserSessions: { url: 'https://example.com/' },
  postHooks: { hook_preset_id: 'task.overdue.summary' },
  patchHooksById: { enabled: false },
  postIframesByIdSessions: { page_url: 'https://shop.example/prices' },
  patchIframesById: { name: 'Shop chat' },
  postIframesByIdDuplicate: { name: 'Shop chat 2' },
}

/** The body that a route's samples send; undefined for a route without a body. */
export function bodyOf({ id, body }: Operation, resolve: Resolve): Json | undefined {
  if (!body) return undefined
  return BODIES[id] ?? (exampleOf(body.schema, resolve, { whole: false }) as Json)
}
