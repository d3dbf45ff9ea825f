import { defaultVerbs } from './policies-default'
import { KEYS_STAY, resourceCommands } from './resource-commands'
import { PREFERENCE_ID, preferenceColumns } from './routing-columns'
import { listCorrections, suggestRule } from './routing-suggest'
import { previewRouting, testRouting } from './routing-test'

/** Routing preferences (dx 2.10); also as `policies routing`. */
export const routingCommands = [
  ...resourceCommands({
    path: 'routing-preferences',
    noun: 'routing',
    what: 'routing preference',
    many: 'routing preferences',
    columns: preferenceColumns,
    id: PREFERENCE_ID,
    file: 'preference.yaml',
    arg: 'policy',
    stays: KEYS_STAY,
    bound: { flag: '--routing', holds: (key, id) => key.routing_preference_id === id },
  }),
  ...defaultVerbs('routing', PREFERENCE_ID),
  previewRouting,
  testRouting,
  suggestRule,
  listCorrections,
]
