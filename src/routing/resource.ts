import { iso } from '../kernel/clock'
import { defineResource, type Facts, scopeOf } from '../resource'
import { preferenceSettings } from './config'
import { belowFloor } from './rules'
import * as words from './schema'
import { type PreferenceRow, routingPreferences } from './table'

/** Routing preferences (docs/api.md 13). */
export const routingPreference = defineResource({
  name: 'routing_preference',
  title: { one: 'routing preference', many: 'routing preferences' },
  path: '/routing-preferences',
  plural: 'routing_preferences',
  table: routingPreferences,
  id: words.PreferenceId,
  words: {
    New: words.NewPreference,
    Patch: words.PreferencePatch,
    View: words.Preference,
    Query: words.PreferenceQuery,
    Page: words.PreferencePage,
  },
  summaries: {
    create: 'Create a routing preference, not yet bound to a key',
    list: 'List your routing preferences and those of your organizations, newest first',
    get: 'Read one routing preference',
    update: 'Change a routing preference; omitted members stay, arrays are replaced',
    remove: 'Delete a routing preference and unbind it from its keys',
  },
  owned: 'either',
  reach: 'every org',
  permission: 'manageWebhooks',
  holds: ['description', 'pattern', 'examples', 'warnings'],
  max: preferenceSettings.maxPreferences,
  boundTo: { column: 'routing_preference_id', contains: false },
  empty: { description: null, rules: [], examples: [], floors: {}, is_default: false },
  present(row: PreferenceRow, { boundKeys }: Facts): words.Preference {
    const warnings = belowFloor(row.rules, row.floors)
    return {
      id: row.id,
      object: 'routing_preference',
      name: row.name,
      description: row.description,
      rules: row.rules,
      examples: row.examples,
      confidence_floor_overrides: row.floors,
      scope: scopeOf(row),
      org_id: row.org_id,
      is_default: row.is_default,
      bound_key_count: boundKeys,
      created: iso(row.created_at),
      updated: iso(row.updated_at),
      ...(warnings.length ? { warnings } : {}),
    }
  },
})
