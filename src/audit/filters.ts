import { eq, or, type SQL, sql } from 'drizzle-orm'
import { beginsWith, isBeginning } from '../kernel/beginning'
import type { Reader } from '../kernel/store'
import type { AuditFilters } from './schema'
import { auditEvents } from './table'

/** Characters of a UUID. */
const WHOLE_ID = 36

/** Whether `entity_id` can use the partial index of the table, which leaves completions out. */
export const isIndexed = ({ entity_id, entity_type }: AuditFilters): boolean =>
  entity_id !== undefined && entity_type !== 'completion' && !/^(chat)?cmpl_/.test(entity_id)

/** The filters of contract 19 except the dates, which `seqRangeOf` turns into `seq` bounds. */
export function filtersOf(reader: Reader, input: AuditFilters): (SQL | undefined)[] {
  const t = reader.of(auditEvents)
  return [
    input.key_id === undefined ? undefined : eq(t.api_key_id, input.key_id),
    input.mode === undefined ? undefined : eq(t.mode, input.mode),
    input.status === undefined ? undefined : eq(t.status, input.status),
    input.entity_type === undefined ? undefined : eq(t.entity_type, input.entity_type),
    input.entity_id === undefined ? undefined : eq(t.entity_id, input.entity_id),
    input.request_id === undefined ? undefined : eq(t.request_id, input.request_id),
    idFilter(t, input.id),
    actionFilter(t, input.action),
    actorFilter(reader, input.actor),
    isIndexed(input) ? sql`${t.entity_type} <> 'completion'` : undefined,
  ]
}

/** The id of one event, or six and more characters that it begins with. */
function idFilter(t: typeof auditEvents.sqlite, id: string | undefined): SQL | undefined {
  if (id === undefined) return undefined
  return isBeginning(id) && id.length < WHOLE_ID ? beginsWith(t.id, id) : eq(t.id, id as never)
}

/** `key.*` matches every action that begins with `key.` */
function actionFilter(t: typeof auditEvents.sqlite, action: string | undefined): SQL | undefined {
  if (action === undefined) return undefined
  if (!action.endsWith('.*')) return eq(t.action, action)
  const family = action.slice(0, -1)
  return sql`substr(${t.action}, 1, ${family.length}) = ${family}`
}

/** Matches a user id, a key id, or an operator's name, which is only in the summary. */
function actorFilter(reader: Reader, actor: string | undefined): SQL | undefined {
  if (actor === undefined) return undefined
  const t = reader.of(auditEvents)
  const operator =
    reader.dialect === 'sqlite'
      ? sql`json_extract(${t.input}, '$.operator.name')`
      : sql`(${t.input}::json #>> '{operator,name}')`
  return or(eq(t.user_id, actor), eq(t.api_key_id, actor), sql`${operator} = ${actor}`)
}
