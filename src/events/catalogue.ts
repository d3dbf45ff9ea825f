/** The events of the server that callers may receive (contract 14.2). */
const SERVER_EVENTS = [
  'completion.created',
  'job.completed',
  'job.failed',
  'workflow.completed',
  'workflow.failed',
  'skill.installed',
  'skill.uninstalled',
  'skill.submitted',
  'skill.approved',
  'skill.rejected',
  'skill.suspended',
  'connector.created',
  'connector.status_changed',
  'credits.low',
  'key.created',
  'key.revoked',
  'rate_limit.upgraded',
  'widget.human_requested',
  'widget.takeover_started',
  'widget.takeover_released',
  'browser.session_ended',
  'guardrail.triggered',
  'webhook.disabled',
  'hook.paused',
  'notification.created',
] as const

const OF_SERVER: ReadonlySet<string> = new Set(SERVER_EVENTS)

/** Names that callers may not publish: receivers trust that the server itself says these. */
export const isReserved = (type: string): boolean => OF_SERVER.has(type) || type === 'svc' || type.startsWith('svc.')
