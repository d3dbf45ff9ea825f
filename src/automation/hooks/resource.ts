import { iso, isoOrNull } from '../../kernel/clock'
import { defineResource } from '../../resource'
import { hookSettings } from './config'
import * as words from './schema'
import { type HookRow, hooks } from './table'

/** Hooks: a pattern of events, and the skill that runs for them (contract 11.1). */
export const hook = defineResource({
  name: 'hook',
  title: { one: 'hook', many: 'hooks' },
  path: '/hooks',
  plural: 'hooks',
  table: hooks,
  id: words.HookId,
  words: {
    New: words.NewHook,
    Patch: words.HookPatch,
    View: words.Hook,
    Query: words.HookQuery,
    Page: words.HookPage,
    Changed: words.HookChanged,
  },
  summaries: {
    create: 'Install a hook: a skill that runs when an event happens',
    list: 'List hooks, newest first, and the presets',
    get: 'Read one hook and its runs, newest first',
    update: 'Change, disable or enable a hook',
    remove: 'Delete a hook; runs that already started will finish',
  },
  owned: 'team',
  permission: 'manageWebhooks',
  holds: ['config', 'output', 'error'],
  max: hookSettings.maxHooks,
  empty: {
    name: '',
    api_key_id: null,
    preset: null,
    enabled: true,
    disabled_reason: null,
    cooldown_minutes: 15,
    consecutive_failures: 0,
    last_fired_at: null,
    config: {},
  },
  present: (row: HookRow): words.Hook => ({
    id: row.id,
    object: 'hook',
    name: row.name,
    hook_preset_id: row.preset,
    event_pattern: row.pattern,
    skill_slug: row.slug,
    enabled: row.enabled,
    disabled_reason: row.disabled_reason,
    cooldown_minutes: row.cooldown_minutes,
    consecutive_failures: row.consecutive_failures,
    last_fired_at: isoOrNull(row.last_fired_at),
    config: row.config,
    org_id: row.org_id,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  }),
})
