import { defineTable } from '../kernel/store'

/**
 * One row: the engine settings that operators made while servers ran, for every node. `value` is sealed JSON, because it
 * has keys of upstreams; `revision` grows with every change.
 */
export const engineSettingsRow = defineTable((k) =>
  k.table('engine_settings', {
    id: k.int('id').primaryKey(),
    revision: k.int('revision').notNull(),
    value: k.text('value').notNull(),
  }),
)
