import type { OwnerScope } from '../kernel/caller'
import type { KeyId, UserId } from '../kernel/ids'
import { defineTable, type Row } from '../kernel/store'

/** One row a call (contract 18.1). */
export const usageRecords = defineTable((k) =>
  k.table(
    'usage_records',
    {
      id: k.serial('id'),
      owner: k.text('owner').$type<OwnerScope>().notNull(),
      at: k.ms('at').notNull(),
      request_id: k.text('request_id').notNull(),
      user_id: k.text('user_id').$type<UserId>(),
      api_key_id: k.text('api_key_id').$type<KeyId>(),
      endpoint: k.text('endpoint').notNull(),
      mode: k.text('mode'),
      resolved_mode: k.text('resolved_mode'),
      model: k.text('model'),
      status: k.int('status').notNull(),
      prompt_tokens: k.int('prompt_tokens').notNull(),
      completion_tokens: k.int('completion_tokens').notNull(),
      cost_micro: k.int('cost_micro').notNull(),
      cached: k.bool('cached').notNull(),
      latency_ms: k.int('latency_ms').notNull(),
      ttft_ms: k.int('ttft_ms'),
      fallback_used: k.bool('fallback_used').notNull(),
    },
    (t) => [k.index('usage_records_by_owner').on(t.owner, t.at)],
  ),
)

/** What a subject (an API key) spent and has on hold, a row a UTC day: caps and reports read 31 rows at most. */
export const spendDays = defineTable((k) =>
  k.table(
    'spend_days',
    {
      subject: k.text('subject').notNull(),
      /** `YYYY-MM-DD`, UTC. */
      day: k.text('day').notNull(),
      spent: k.int('spent').notNull(),
      held: k.int('held').notNull(),
    },
    (t) => [k.primaryKey({ columns: [t.subject, t.day] })],
  ),
)

export type UsageRow = Row<typeof usageRecords>
export type SpendDayRow = Row<typeof spendDays>
