import type { OwnerScope } from '../kernel/caller'
import { defineTable, type Row } from '../kernel/store'
import type { Item, ResponseBody, ResponseId } from './responses-schema'

/** Responses that were asked to be stored, each of one owner. */
export const responses = defineTable((k) =>
  k.table(
    'responses',
    {
      id: k.text('id').$type<ResponseId>().primaryKey(),
      owner: k.text('owner').$type<OwnerScope>().notNull(),
      /** The response that it goes on from; null for one that begins anew. */
      previous_id: k.text('previous_id').$type<ResponseId>(),
      /** Items of its own request, without those of the responses before it. */
      input: k.json<Item[]>('input').notNull(),
      body: k.json<ResponseBody>('body').notNull(),
      /** The number of the last event of its stream. */
      last_sequence: k.int('last_sequence').notNull(),
      created_at: k.ms('created_at').notNull(),
      expires_at: k.ms('expires_at').notNull(),
    },
    (t) => [k.index('responses_expiring').on(t.expires_at), k.index('responses_by_owner').on(t.owner, t.created_at)],
  ),
)

/** Where the items of stored responses are, for requests that name them by their ids. */
export const responseItems = defineTable((k) =>
  k.table(
    'response_items',
    {
      id: k.text('id').primaryKey(),
      response_id: k.text('response_id').$type<ResponseId>().notNull(),
    },
    (t) => [k.index('response_items_by_response').on(t.response_id)],
  ),
)

export type ResponseRow = Row<typeof responses>
