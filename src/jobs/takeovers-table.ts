import type { OwnerScope } from '../kernel/caller'
import { defineTable, type Row } from '../kernel/store'
import type { TakeoverStatus } from './takeover'

/** One row for each subject that somebody was asked for or took over; all others are with the AI. */
export const takeovers = defineTable((k) =>
  k.table(
    'takeovers',
    {
      kind: k.text('kind').notNull(),
      subject_id: k.text('subject_id').notNull(),
      owner: k.text('owner').$type<OwnerScope>().notNull(),
      status: k.text('status').$type<TakeoverStatus>().notNull(),
      fence: k.int('fence').notNull(),
      holder_id: k.text('holder_id'),
      holder_name: k.text('holder_name'),
      since: k.ms('since'),
      until: k.ms('until'),
      reason: k.text('reason'),
    },
    (t) => [
      k.primaryKey({ columns: [t.kind, t.subject_id] }),
      k.index('takeovers_until').on(t.until),
      k.index('takeovers_by_owner').on(t.owner, t.kind, t.status),
    ],
  ),
)
export type TakeoverRow = Row<typeof takeovers>
