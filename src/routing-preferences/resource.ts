import { defineResource } from '../resource'
import { preferenceSettings } from './config'
import { belowFloor } from './floors'
import * as words from './schema'
import { type PreferenceRow, routingPreferences } from './table'

/** Routing preferences (contract 13). */
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
  permission: 'manageWebhooks',
  reach: 'every org',
  most: preferenceSettings.maxPreferences,
  boundTo: { column: 'routing_preference_id', contains: false },
  empty: { description: null, rules: [], examples: [], floors: {}, is_default: false },
  present({ name, description, rules, examples, floors }: PreferenceRow) {
    const warnings = belowFloor(rules, floors)
    const own = { name, description, rules, examples, confidence_floor_overrides: floors }
    return warnings.length ? { ...own, warnings } : own
  },
})
