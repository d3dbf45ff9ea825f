const [AT, LATER] = ['2026-11-22T09:00:00.000Z', '2026-11-22T09:00:04.000Z']
const id = (last: number): string => `6f1e0a5c-2b7d-4c3a-9a41-${String(last).padStart(12, '0')}`
const key = {
  key_id: id(1),
  name: 'shop',
  prefix: 'svc_live_ab12',
  scopes: ['completions'],
  scope: 'personal',
  org_id: null,
}
const job = {
  job_id: 'job_4fJq0Zs1',
  type: 'research',
  usage: { cost_cents: 4.2 },
  created_at: AT,
  completed_at: LATER,
}
const run = {
  workflow_id: id(2),
  run_id: id(3),
  name: 'Daily news',
  trigger_type: 'schedule',
  started_at: AT,
  completed_at: LATER,
}
const installed = { skill_id: id(4), slug: 'email-drafter', version: '1.2.0', user_id: id(5) }
const submission = {
  submission_id: id(6),
  skill_id: id(4),
  slug: 'email-drafter',
  version: '1.2.0',
  review_tier: 'staff',
  auto_approved: false,
  reason: null,
}
const chat = { config_id: id(7), session_id: id(8), operator_id: null }

/** The server's events that callers can receive, with a description and sample data (docs/api.md 14.2). */
export const SAMPLES = {
  'completion.created': {
    about: 'An answer, a picture, a document or an audio file was created',
    data: {
      completion_id: 'cmpl_9aXk2LqT',
      object: 'completion',
      mode: 'auto',
      resolved_mode: 'fast',
      model: { id: 'svc-fast', label: 'Fast', engine: 'svc-fast' },
      conversation_id: id(9),
      api_key_id: id(1),
      usage: { cost_cents: 0.02, prompt_tokens: 42, completion_tokens: 118, total_tokens: 160 },
      tools_used: [{ name: 'web_search', status: 'success' }],
      artifact_count: 0,
      metadata: null,
      request_id: 'req_7Hq1Zk0P',
      created: AT,
    },
  },
  'job.completed': {
    about: 'A job completed',
    data: { ...job, status: 'completed', result: 'A report.', error: null },
  },
  'job.failed': { about: 'A job failed', data: { ...job, status: 'failed', result: null, error: 'timeout' } },
  'workflow.completed': {
    about: 'A workflow run completed',
    data: { ...run, status: 'completed', steps_completed: 3, error: null },
  },
  'workflow.failed': {
    about: 'A workflow run failed',
    data: { ...run, status: 'failed', steps_completed: 1, error: 'Step "Ask" failed: the call timed out' },
  },
  'skill.installed': { about: 'A skill was installed', data: installed },
  'skill.uninstalled': { about: 'A skill was removed', data: installed },
  'skill.submitted': { about: 'A skill was submitted for review', data: { ...submission, status: 'pending_review' } },
  'skill.approved': { about: 'A skill passed review', data: { ...submission, status: 'approved' } },
  'skill.rejected': {
    about: 'A skill was rejected',
    data: { ...submission, status: 'rejected', reason: 'It asks for more than it needs.' },
  },
  'skill.suspended': {
    about: 'A published skill was taken down',
    data: { ...submission, status: 'suspended', reason: 'Reported.' },
  },
  'connector.created': {
    about: 'A channel was set up',
    data: { connector_id: 'webhooks', type: 'webhooks', status: 'connected', previous_status: null },
  },
  'connector.status_changed': {
    about: 'The status of a channel changed',
    data: { connector_id: 'webhooks', type: 'webhooks', status: 'error', previous_status: 'connected' },
  },
  'credits.low': {
    about: 'The balance fell below the threshold',
    data: { scope: 'user', org_id: null, balance_cents: 480, threshold_cents: 500 },
  },
  'key.created': { about: 'An API key was created', data: key },
  'key.revoked': { about: 'An API key was revoked', data: key },
  'rate_limit.upgraded': {
    about: 'A key has a higher tier',
    data: { key_id: id(1), previous_tier: 'free', tier: 'pro', rpm: 120, tpm: 200_000, increase_request_id: null },
  },
  'widget.human_requested': {
    about: 'A visitor of a widget asked for a person',
    data: { ...chat, takeover_status: 'requested' },
  },
  'widget.takeover_started': {
    about: 'A person took over a chat',
    data: { ...chat, takeover_status: 'human', operator_id: id(5) },
  },
  'widget.takeover_released': {
    about: 'A person handed a chat back',
    data: { ...chat, takeover_status: 'ai', operator_id: id(5) },
  },
  'browser.session_ended': {
    about: 'A browser session ended',
    data: { session_id: id(10), reason: 'closed', duration_seconds: 61, proxy_bytes: 0, cost_cents: 0.6 },
  },
  'guardrail.triggered': {
    about: 'A guardrail found something',
    data: {
      policy_id: id(11),
      guardrail_id: 'secrets',
      phase: 'input',
      verdict: 'block',
      api_key_id: id(1),
      request_id: 'req_7Hq1Zk0P',
    },
  },
  'webhook.disabled': {
    about: 'The server disabled a webhook that kept failing',
    data: {
      webhook_id: id(12),
      url: 'https://example.com/hook',
      reason: 'auto',
      failure_count: 21,
      last_delivered_at: AT,
    },
  },
  'hook.paused': {
    about: 'The server paused a hook that kept failing',
    data: {
      hook_id: id(13),
      event_pattern: 'order.*',
      skill_slug: 'email-drafter',
      consecutive_failures: 5,
      error: 'not_found',
    },
  },
  'notification.created': {
    about: 'A workflow sent a notification in the app',
    data: { to: 'everyone', subject: 'News', body: 'The report is there.', workflow_id: id(2), run_id: id(3) },
  },
} as const satisfies Record<string, { about: string; data: Readonly<Record<string, unknown>> }>
