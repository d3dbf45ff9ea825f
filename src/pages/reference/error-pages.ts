/** The meaning of an error code, for callers and for the operator of the server. */
export type ErrorPage = {
  status: number
  meaning: string
  /** What a caller should do. */
  cure: string
  /** What the operator should do, if that differs. */
  operator?: string
  retry: 'yes' | 'no' | 'after Retry-After'
  /** Groups of the document whose routes answer with it. Absent for all groups. */
  groups?: readonly string[]
}

const CHATS = ['Completions', 'Chat', 'Responses', 'Messages']

/** Groups whose routes use engines. They count tokens, and modes have limits of their own. */
export const ANSWERING = [
  ...CHATS,
  'Code',
  'Documents',
  'Images',
  'Videos',
  'Research',
  'Audio',
  'Canvases',
  'Widget visitors',
  'Embeddings',
]

const WAIT = 'after Retry-After'

const withoutEngine = (what: string, operator: string): ErrorPage => ({
  status: 503,
  meaning: `This server has no ${what} engine, or the engine is unavailable.`,
  cure: 'Try again later, or ask the operator of the server to set one up.',
  operator,
  retry: WAIT,
  groups: ['Audio'],
})

/** Every error code of docs/api.md 1.5, with its meaning and remedy. */
export const ERROR_PAGES: Readonly<Record<string, ErrorPage>> = {
  validation_error: {
    status: 400,
    meaning: 'The body, the query or a header is not what the route expects. The message names each problem.',
    cure: 'Change what the message names. GET /openapi.json has the schemas.',
    retry: 'no',
  },
  context_length_exceeded: {
    status: 400,
    meaning: 'The input is longer than what the engine reads at once. The message holds both numbers.',
    cure: 'Shorten the input, or leave out older turns. POST /responses does so with "truncation": "auto".',
    retry: 'no',
    groups: ['Chat', 'Responses', 'Embeddings'],
  },
  empty_prompt: {
    status: 400,
    meaning: 'The chat has no user message with text.',
    cure: 'Add a message with "role":"user".',
    retry: 'no',
    groups: ['Chat', 'Responses', 'Messages'],
  },
  missing_prompt: {
    status: 400,
    meaning: '"prompt" is absent.',
    cure: 'Send a non-empty "prompt".',
    retry: 'no',
    groups: ANSWERING,
  },
  missing_fields: {
    status: 400,
    meaning: 'Required members are missing. The message names them.',
    cure: 'Send the members that the message names.',
    retry: 'no',
    groups: ['Audio', 'Documents', 'Rate limits', 'Skills'],
  },
  missing_text: {
    status: 400,
    meaning: '"text" is missing, so there is nothing to speak.',
    cure: 'Send a non-empty "text", or "input" to POST /audio/speech.',
    retry: 'no',
    groups: ['Audio'],
  },
  missing_file: {
    status: 400,
    meaning: 'The form has no audio file.',
    cure: 'Send the recording as the part "file" of multipart/form-data.',
    retry: 'no',
    groups: ['Audio'],
  },
  invalid_format: {
    status: 400,
    meaning: 'The route does not support this format.',
    cure: 'Send one of the formats that the message names.',
    retry: 'no',
    groups: ['Audio', 'Documents', 'Usage'],
  },
  org_required: {
    status: 400,
    meaning: 'The scope is team, but the caller has no active organization.',
    cure: 'Activate an organization with POST /orgs/{id}/activate, use its key, or send "scope":"user".',
    operator: 'Name the org, or use an org key.',
    retry: 'no',
    groups: ['Guardrails', 'Routing preferences', 'API keys', 'Skills', 'Rate limits', 'Billing', 'Audit'],
  },
  url_blocked: {
    status: 400,
    meaning: 'An address in the request is in a private network.',
    cure: 'Use a public address.',
    operator: 'Use a public address. Operators can allow networks with SVC_EGRESS_ALLOW.',
    retry: 'no',
    groups: [...CHATS, 'Webhooks', 'Workflows', 'Skills', 'Browser', 'Canvases', 'Research', 'Hooks'],
  },
  routing_preference_invalid: {
    status: 400,
    meaning:
      'A routing preference or rule names a provider, an unknown mode or engine, or has a pattern that cannot run.',
    cure: 'Change what error.param names; test rules with POST /routing-preferences/preview.',
    operator: 'Change what error.param names; test rules with svc-admin routing preview --rules FILE.',
    retry: 'no',
    groups: ['Routing preferences', 'API keys', 'Completions', 'Chat', 'Responses', 'Messages'],
  },
  routing_suggest_below_threshold: {
    status: 400,
    meaning: 'Fewer than three corrections for the mode in the last 30 days.',
    cure: 'Record more with POST /routing-corrections.',
    operator: 'Record more with POST /routing-corrections; svc-admin routing corrections lists them.',
    retry: 'no',
    groups: ['Routing preferences'],
  },
  guardrail_policy_invalid: {
    status: 400,
    meaning: 'A rule names an unknown guardrail or has a config that the guardrail does not accept.',
    cure: 'Change what error.param names. GET /guardrails lists each guardrail with its config.',
    retry: 'no',
    groups: ['Guardrails'],
  },
  guardrail_blocked: {
    status: 400,
    meaning: 'A guardrail policy blocked the input.',
    cure: 'Leave out what the policy forbids. The policy is the one bound to the key.',
    operator: 'Read "guardrails" of the policy bound to the key.',
    retry: 'no',
    groups: ANSWERING,
  },
  invalid_api_key: {
    status: 401,
    meaning: 'The key is missing, malformed, unknown, expired or revoked.',
    cure: 'Send "Authorization: Bearer svc_sk_…" with a key of this server.',
    operator: 'svc-admin keys list, then svc-admin keys create',
    retry: 'no',
  },
  invalid_session: { status: 401, meaning: 'The session has ended.', cure: 'Sign in again.', retry: 'no' },
  invalid_token: {
    status: 401,
    meaning: 'The token is wrong, used or has expired.',
    cure: 'Get a new one: open the chat, the live view or the session again, or ask for another link.',
    retry: 'no',
    groups: ['Widget visitors', 'Browser', 'Audio', 'Accounts', 'Organizations'],
  },
  invalid_credentials: {
    status: 401,
    meaning: 'The e-mail address or the password is wrong.',
    cure: 'Check both, and try again.',
    retry: 'no',
    groups: ['Accounts'],
  },
  insufficient_credits: {
    status: 402,
    meaning: 'The balance does not cover what the call reserves, or a spending cap is reached.',
    cure: 'Add credit with POST /billing/checkout, lower what the call can use, or raise the cap. Nothing was charged.',
    operator: 'svc-admin credits grant OWNER 10.00 --reason "…", or raise the cap of the key',
    retry: 'no',
  },
  missing_scope: {
    status: 403,
    meaning: 'The key lacks the scope of this route.',
    cure: 'Use a key with the scope that the message names, or add it with PATCH /keys/{id}.',
    operator: 'svc-admin keys update ID --scopes a,b',
    retry: 'no',
  },
  forbidden: {
    status: 403,
    meaning: "The caller's role in the organization does not allow this.",
    cure: 'Ask an owner or admin of the org.',
    retry: 'no',
  },
  origin_not_allowed: {
    status: 403,
    meaning: "A page outside the key's allowed origins used the key.",
    cure: 'Add the page\'s origin to "allowed_origins" of the key, or call from your own server.',
    operator: 'svc-admin keys update ID --origin https://…',
    retry: 'no',
  },
  bot_check_failed: {
    status: 403,
    meaning: 'The widget requires a bot check, and its token is missing, used or rejected.',
    cure: 'Load the page again, so that a new check is made.',
    retry: 'no',
    groups: ['Widget visitors'],
  },
  not_found: {
    status: 404,
    meaning: 'The caller can see nothing with this id. It does not exist, was deleted, or belongs to someone else.',
    cure: 'List the available items with the same key.',
    retry: 'no',
  },
  previous_response_not_found: {
    status: 404,
    meaning: 'No response with the id in "previous_response_id" is stored for this caller.',
    cure: 'Send the items of the conversation in "input", or begin anew.',
    retry: 'no',
    groups: ['Responses'],
  },
  session_not_found: {
    status: 404,
    meaning: 'The caller has no open session with this id.',
    cure: 'Open a new one.',
    retry: 'no',
    groups: ['Browser', 'Completions', 'Chat', 'Responses', 'Messages'],
  },
  live_view_unavailable: {
    status: 404,
    meaning: 'The session has no live view. It has ended, or it was opened without one.',
    cure: 'Open a session with its live view on.',
    retry: 'no',
    groups: ['Browser'],
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The address exists, but not with this method.',
    cure: 'The Allow header lists the methods.',
    retry: 'no',
  },
  conflict: {
    status: 409,
    meaning:
      'The current state does not allow it: ended, in use, already exists, or changed in the meantime. The message says which.',
    cure: 'Read the current state, and send a request that fits it.',
    retry: 'no',
  },
  idempotency_conflict: {
    status: 409,
    meaning: 'A running request or a different request already uses the Idempotency-Key.',
    cure: 'Wait for the first request, or use a new key for new work.',
    retry: 'yes',
  },
  team_billing_setup_required: {
    status: 409,
    meaning: 'The organization has no payment method yet.',
    cure: 'An owner buys credit once with POST /billing/checkout and "scope":"org"; the portal opens after that.',
    operator: 'svc-admin credits grant ORG 10.00 --reason "…" needs no payment method.',
    retry: 'no',
    groups: ['Billing'],
  },
  payload_too_large: {
    status: 413,
    meaning: 'The body is too large. The message names the limit.',
    cure: 'Send less at once, or a link instead of the content.',
    retry: 'no',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'The body is not JSON, or its Content-Type does not say so.',
    cure: 'Send Content-Type: application/json; recordings go as multipart/form-data.',
    retry: 'no',
  },
  review_failed: {
    status: 422,
    meaning: 'The skill failed its automatic checks. The answer lists each check with its findings.',
    cure: 'Fix what the findings name and submit a new version.',
    retry: 'no',
    groups: ['Skills', 'Canvases'],
  },
  // 429 and 5xx: the same request may work later.
  rate_limit_exceeded: {
    status: 429,
    meaning: 'The key sent more requests in 60 seconds than its tier allows.',
    cure: 'Wait as long as Retry-After says. Request a higher tier with POST /rate-limits/request-increase.',
    operator: 'Wait, or create the key with a higher --tier.',
    retry: WAIT,
  },
  mode_rate_limit_exceeded: {
    status: 429,
    meaning: 'The key sent more requests for one mode in 60 seconds than its tier allows. Other modes still work.',
    cure: 'Wait as long as Retry-After says, or use another mode.',
    operator: 'Wait, or create the key with a higher --tier.',
    retry: WAIT,
    groups: ANSWERING,
  },
  token_limit_exceeded: {
    status: 429,
    meaning: 'The key used more tokens in 60 seconds than its tier allows.',
    cure: 'Wait as long as Retry-After says, or send shorter prompts.',
    operator: 'Wait, send shorter prompts, or create the key with a higher --tier.',
    retry: WAIT,
    groups: ANSWERING,
  },
  browser_session_limit: {
    status: 429,
    meaning: 'The maximum number of browser sessions for the caller or for this server is open.',
    cure: 'End one with DELETE /browser/sessions/{id}, or wait until one has ended.',
    retry: WAIT,
    groups: ['Browser'],
  },
  server_error: {
    status: 500,
    meaning: 'A bug. The log has the request id and the cause.',
    cure: 'Try again, and give the request id to the operator of the server. Nothing was charged.',
    operator: 'Look up the request id in the server log.',
    retry: 'yes',
  },
  browser_unconfigured: {
    status: 501,
    meaning: 'This server has no browser for browser sessions.',
    cure: 'Work without it, or ask the operator of the server.',
    operator: 'Install Chromium and set its path; svc-admin doctor shows what is missing.',
    retry: 'no',
    groups: ['Browser'],
  },
  tts_provider_error: {
    status: 502,
    meaning: 'The speech engine failed. Nothing was charged.',
    cure: 'Try again.',
    operator: 'svc-admin trace REQUEST shows the real error of each attempt.',
    retry: 'yes',
    groups: ['Audio'],
  },
  stt_provider_error: {
    status: 502,
    meaning: 'The transcription engine failed. Nothing was charged.',
    cure: 'Try again.',
    operator: 'svc-admin trace REQUEST shows the real error of each attempt.',
    retry: 'yes',
    groups: ['Audio'],
  },
  tts_unavailable: withoutEngine('speech', 'Set SVC_TTS_BASE_URL to a speech server, or install espeak-ng.'),
  stt_unavailable: withoutEngine('transcription', 'Set SVC_STT_BASE_URL to a server with /audio/transcriptions.'),
  embeddings_unavailable: {
    ...withoutEngine('embeddings', 'Set SVC_EMBED_BASE_URL to a server with /embeddings.'),
    groups: ['Embeddings'],
  },
  voice_unavailable: {
    status: 503,
    meaning: 'No live voice session can be opened right now.',
    cure: 'Try again later, or send recordings to POST /audio/stt.',
    operator: 'Set SVC_VOICE_URL to the address of a live voice server.',
    retry: WAIT,
    groups: ['Audio'],
  },
  queue_unavailable: {
    status: 503,
    meaning: 'The job could not be queued, or no process runs jobs. Nothing was started or charged.',
    cure: 'Send the same request again, with the same Idempotency-Key.',
    operator: 'svc-admin doctor jobs',
    retry: WAIT,
    groups: ['Research', 'Videos', 'Jobs'],
  },
  service_unavailable: {
    status: 503,
    meaning: 'The server is starting, stopping or at its limit.',
    cure: 'Wait a moment.',
    operator: 'svc-admin status shows what is running; svc-admin doctor shows how to fix the rest.',
    retry: WAIT,
  },
  storage_unavailable: {
    status: 503,
    meaning: 'The database is full, locked or unavailable.',
    cure: 'Try again later. Nothing was changed or charged.',
    operator: 'svc-admin doctor database disk',
    retry: WAIT,
  },
  engine_unavailable: {
    status: 503,
    meaning: 'No engine answered; the first one and every fallback failed. Nothing was charged.',
    cure: 'Try again, or ask for another mode.',
    operator: 'svc-admin engines test calls each engine; svc-admin trace REQUEST shows the real error of each attempt.',
    retry: WAIT,
    groups: [
      ...CHATS,
      'Code',
      'Documents',
      'Images',
      'Videos',
      'Research',
      'Canvases',
      'Workflows',
      'Skills',
      'Widget visitors',
    ],
  },
  request_timeout: {
    status: 504,
    meaning: 'The request took too long.',
    cure: 'Ask for less in one request, or stream.',
    operator: 'svc-admin trace REQUEST shows which stage took long.',
    retry: 'yes',
  },
}
