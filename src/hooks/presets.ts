import type { HookPreset } from './schema'

/** Hooks that are ready to install (contract 11.1). */
export const PRESETS: readonly HookPreset[] = [
  {
    id: 'share.accepted.welcome',
    event_pattern: 'share.accepted',
    default_skill: 'email-drafter',
    description: 'Drafts a welcome message when someone accepts a share.',
  },
  {
    id: 'task.overdue.summary',
    event_pattern: 'task.overdue',
    default_skill: 'todo-manager',
    description: 'Summarizes what is overdue.',
  },
  {
    id: 'project.created.suggestions',
    event_pattern: 'project.created',
    default_skill: 'document-analyzer',
    description: 'Suggests the next steps of a new project.',
  },
  {
    id: 'team.member_joined.onboarding',
    event_pattern: 'team.member_joined',
    default_skill: 'email-drafter',
    description: 'Drafts an introduction for a new member.',
  },
  {
    id: 'document.analyzed.followup',
    event_pattern: 'document.analyzed',
    default_skill: 'document-analyzer',
    description: 'Lists the tasks that follow from an analyzed document.',
  },
]
