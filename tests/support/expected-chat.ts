import { expect } from 'bun:test'

/** Parts of token counts that nobody stated (docs/api.md 33.4). */
export const WITHOUT_DETAILS = {
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 0,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
}

/** A complete chat completion of the scripted upstream (docs/api.md 4), with the id of its conversation. */
export const expectedChat = (requestId: string | null, conversationId: unknown) => ({
  id: expect.stringMatching(/^chatcmpl_\w{24}$/),
  object: 'chat.completion',
  created: expect.any(Number),
  model: 'svc-1-flash',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'Hello from the scripted upstream.' }, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16, ...WITHOUT_DETAILS },
  service_tier: 'default',
  system_fingerprint: null,
  svc_metadata: {
    mode: 'auto',
    resolved_mode: 'fast',
    tools_used: [],
    artifacts: [],
    engine: 'svc-core',
    cost_cents: expect.any(Number),
    conversation_id: conversationId,
    routing: {
      source: expect.any(String),
      confidence: expect.any(Number),
      reasoning: expect.any(String),
      preference_id: null,
      fallback_used: false,
    },
  },
  request_id: requestId,
})
