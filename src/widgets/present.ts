import { iso, isoOrNull } from '../kernel/clock'
import type { WidgetMessage, WidgetSession } from './schema-sessions'
import type { MessageRow, SessionRow } from './table'

export const presentMessage = ({ id, role, content, artifacts, created_at }: MessageRow): WidgetMessage => ({
  id,
  role,
  content,
  artifacts,
  created_at: iso(created_at),
})

export const operatorOf = ({ operator_id, operator_name }: SessionRow): WidgetSession['operator'] =>
  operator_id === null ? null : { id: operator_id, name: operator_name ?? '' }

export const presentSession = (row: SessionRow): WidgetSession => ({
  session_id: row.id,
  config_id: row.config_id,
  status: row.status,
  takeover_status: row.takeover_status,
  operator: operatorOf(row),
  visitor: {
    id: row.visitor_id,
    ip_hash: row.ip_hash,
    user_agent: row.user_agent,
    origin: row.origin,
    page_url: row.page_url,
    identity: row.identity,
    context: row.context,
  },
  message_count: row.message_count,
  created_at: iso(row.created_at),
  last_message_at: row.message_count ? iso(row.last_message_at) : null,
  conversation_id: row.conversation_id,
  reason: row.reason,
  rating: row.rating,
  visitor_left_at: isoOrNull(row.left_at),
})
