import type { AuditEntry } from '../audit/schema'
import { microToCents } from '../kernel/money'
import type { SkillRunRow } from './table'

const STATUS_OF = {
  running: 202,
  completed: 200,
  failed: 500,
  skipped_cooldown: 200,
  skipped_credits: 402,
  skipped_cap: 402,
} as const

/** The audit entry of a run that ended or was skipped: of the hook that fired, else of the skill. */
export const entryOf = (row: SkillRunRow): Omit<AuditEntry, 'scope'> => ({
  ...aboutOf(row),
  input: { metadata: { slug: row.slug, ...causeOf(row), result: row.status, ...linksOf(row) } },
  output: {
    status: STATUS_OF[row.status],
    cost_cents: microToCents(row.cost_micro),
    ...(row.error ? { error_code: row.error } : {}),
  },
})

function aboutOf({ cause, source, skill_id }: SkillRunRow) {
  if (cause === 'hook') return { action: 'hook.fired', entityType: 'hook', entityId: source } as const
  const action = isPrompt(cause) ? 'skill.hook_ran' : 'skill.triggered'
  return { action, entityType: 'skill', entityId: skill_id } as const
}

const causeOf = ({ cause }: SkillRunRow) =>
  isPrompt(cause) ? { hook: cause === 'install' ? 'onInstall' : 'onUninstall' } : { cause }

const isPrompt = (cause: SkillRunRow['cause']) => cause === 'install' || cause === 'uninstall'

const linksOf = ({ conversation_id, event_id }: SkillRunRow) => ({
  ...(conversation_id ? { conversation_id } : {}),
  ...(event_id ? { event_id } : {}),
})
