import type { Caller } from '../kernel/caller'
import { iso, isoOrNull } from '../kernel/clock'
import { sha256Hex } from '../kernel/crypto'
import { clean, storable } from '../kernel/text'
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

/** What visitors read instead of the name of somebody who has told none. */
const SOMEBODY = 'Support'
const ADDRESS = '@'
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
/** Something besides spaces, invisible characters and what stands for those that were taken out. */
const SHOWS = /[^\s·\p{Cf}]/u
const ID_CHARS = 16

/**
 * How visitors and other operators read who has a chat: the first name that is one, on one line and without what acts on
 * a terminal or turns a line around. E-mail addresses, ids and accounts of machines are none, so they never reach a
 * visitor's page.
 */
export function publicName(...names: readonly (string | null | undefined)[]): string {
  const notices = names.map((name) =>
    clean(storable(name ?? ''))
      .replace(/\s+/g, ' ')
      .trim(),
  )
  return notices.find((name) => SHOWS.test(name) && !name.includes(ADDRESS) && !UUID.test(name)) ?? SOMEBODY
}

/** Who holds a chat. Owners read it, so of the server's own operators it says no more than that they are different. */
export function holderIdOf(caller: Caller): string {
  if (caller.type !== 'operator') return caller.userId
  return `operator:${sha256Hex(caller.name).slice(0, ID_CHARS)}`
}
