import { EventId } from '../events/schema'
import { defineId, type Id, OrgId } from '../kernel/ids'
import { PageQuery } from '../kernel/page'
import { JsonObject, namedObject, nullable, oneOf, type Static, Timestamp, t } from '../kernel/schema'

export const ChannelId = defineId('channel')
export type ChannelId = Id<'channel'>

export const CHANNEL_TYPES = ['telegram', 'whatsapp', 'web', 'widget'] as const
export type ChannelType = (typeof CHANNEL_TYPES)[number]
export type ChannelStatus = 'active' | 'idle'

/** A channel that people write from, derived from `metadata.channel` of completions (docs/api.md 21). */
const Channel = namedObject('Channel', {
  id: ChannelId.schema,
  type: oneOf(CHANNEL_TYPES),
  name: t.String(),
  status: oneOf(['active', 'idle'] as const),
  last_message_at: nullable(Timestamp),
})
export const Channels = t.Object({ channels: t.Array(Channel) })
export type Channels = Static<typeof Channels>

export const SkillRunId = defineId('skill run')
export type SkillRunId = Id<'skill run'>

/** The cause of a run: a prompt of its manifest, a hook of `/hooks`, or its own trigger. */
export type RunCause = 'install' | 'uninstall' | 'hook' | 'event' | 'schedule'
/** State of a run. A skipped run never began. */
const RUN_STATUSES = ['running', 'completed', 'failed', 'skipped_cooldown', 'skipped_credits', 'skipped_cap'] as const
export type SkillRunStatus = (typeof RUN_STATUSES)[number]

export const HookId = defineId('hook')
export type HookId = Id<'hook'>

const Name = t.Optional(t.String({ maxLength: 128, description: 'Name of the hook' }))
const Cooldown = t.Optional(
  t.Integer({ minimum: 1, maximum: 1_440, description: 'Minutes after a run in which the hook does not run again' }),
)
const Config = t.Optional(JsonObject)

/** Body of `POST /hooks`: exactly one of `hook_preset_id` and `event_pattern`. */
export const NewHook = namedObject(
  'NewHook',
  {
    hook_preset_id: t.Optional(t.String({ minLength: 1, maxLength: 128 })),
    event_pattern: t.Optional(
      t.String({
        minLength: 1,
        maxLength: 128,
        description: 'Words joined by dots; `*` matches any word, or all that follow',
      }),
    ),
    skill_slug: t.Optional(t.String({ minLength: 1, maxLength: 64, description: 'Default: the skill of the preset' })),
    cooldown_minutes: Cooldown,
    name: Name,
    config: Config,
  },
  {
    description:
      'Send either hook_preset_id or event_pattern. `config` is sent with the event; its `prompt` tells the skill what to do.',
  },
)
export type NewHook = Static<typeof NewHook>

/** Body of `PATCH /hooks/{id}`. Absent members stay unchanged. */
export const HookPatch = namedObject('HookPatch', {
  enabled: t.Optional(t.Boolean({ description: 'Enabling resets the count of failures' })),
  cooldown_minutes: Cooldown,
  name: Name,
  config: Config,
})
export type HookPatch = Static<typeof HookPatch>

const members = {
  id: HookId.schema,
  object: t.Literal('hook'),
  name: t.String(),
  hook_preset_id: nullable(t.String()),
  event_pattern: t.String(),
  skill_slug: t.String(),
  enabled: t.Boolean(),
  disabled_reason: nullable(t.String({ description: '`failures` after five failures in a row' })),
  cooldown_minutes: t.Integer(),
  consecutive_failures: t.Integer(),
  last_fired_at: nullable(Timestamp),
  config: JsonObject,
  org_id: nullable(OrgId.schema),
  created_at: Timestamp,
  updated_at: Timestamp,
}
export const Hook = t.Object(members, { $id: 'Hook' })
export type Hook = Static<typeof Hook>
/** Answer of `PATCH /hooks/{id}`. */
export const HookChanged = t.Object({ ...members, updated: t.Literal(true) })

export const HookPreset = namedObject('HookPreset', {
  id: t.String(),
  event_pattern: t.String(),
  default_skill: t.String(),
  description: t.String(),
})
export type HookPreset = Static<typeof HookPreset>

const pageMembers = { has_more: t.Boolean(), next_cursor: nullable(t.String()) }
export const HookQuery = t.Object(PageQuery.properties)
export type HookQuery = Static<typeof HookQuery>
export const HookPage = t.Object({ hooks: t.Array(Hook), presets: t.Array(HookPreset), ...pageMembers })

/** One event that reached a hook, and its result (docs/api.md 11.1). */
export const HookExecution = namedObject('HookExecution', {
  id: SkillRunId.schema,
  hookId: HookId.schema,
  status: oneOf(RUN_STATUSES),
  eventId: t.Optional(EventId.schema),
  error: t.Optional(t.String()),
  output: nullable(t.String()),
  costCents: t.Number(),
  createdAt: Timestamp,
  completedAt: t.Optional(Timestamp),
})
export type HookExecution = Static<typeof HookExecution>
export const HookHistory = t.Object({ hook: Hook, executions: t.Array(HookExecution), ...pageMembers })
export type HookHistory = Static<typeof HookHistory>
export const HookExecutions = t.Object({ executions: t.Array(HookExecution), ...pageMembers })
