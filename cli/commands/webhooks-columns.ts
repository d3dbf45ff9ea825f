import { column, idColumn } from '../output/columns'

export const webhookColumns = [
  idColumn,
  column('url', 'URL'),
  column('event_types', 'EVENTS', { kind: 'list' }),
  column('enabled', 'ENABLED', { kind: 'flag' }),
  column('failure_count', 'FAILURES', { kind: 'number', min: true }),
  column('last_delivered_at', 'DELIVERED', { kind: 'time' }),
  column('disabled_reason', 'WHY', { wide: true }),
  column('description', 'DESCRIPTION', { wide: true }),
  column('ordered', 'ORDERED', { kind: 'flag', wide: true }),
  column('org_id', 'ORG', { wide: true }),
  column('created_at', 'CREATED', { kind: 'time', wide: true }),
]

export const deliveryColumns = [
  idColumn,
  column('event_type', 'EVENT'),
  column('status', 'STATUS'),
  column('http_status', 'HTTP', { kind: 'number' }),
  column('error_message', 'WHY'),
  column('attempt', 'TRY', { kind: 'number' }),
  column('duration_ms', 'MS', { kind: 'number', min: true }),
  column('created_at', 'AT', { kind: 'time' }),
  column('next_retry_at', 'NEXT', { kind: 'time', min: true }),
  column('event_id', 'EVENT ID', { wide: true }),
  column('webhook_id', 'WEBHOOK', { wide: true }),
]

export const WEBHOOK = 'id of the webhook'
