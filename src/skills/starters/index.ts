import { type SkillManifest, type WrittenManifest, withDefaults } from '../manifest'
import type { Examined } from '../review'
import { changelogWriter } from './changelog-writer'
import { documentAnalyzer } from './document-analyzer'
import { emailDrafter } from './email-drafter'
import { meetingNotes } from './meeting-notes'
import { supportReplies } from './support-replies'
import { todoManager } from './todo-manager'

/** The skills that ship with the server, in the order the store shows them. */
const WRITTEN: readonly WrittenManifest[] = [
  emailDrafter,
  todoManager,
  documentAnalyzer,
  meetingNotes,
  changelogWriter,
  supportReplies,
]
export const STARTERS: readonly SkillManifest[] = WRITTEN.map(withDefaults)

/**
 * The review result of every bundled skill, stored so that a first start need not compute it. Tests repeat the review
 * and fail when it differs.
 */
export const REVIEW_OF_STARTERS: Readonly<Omit<Examined, 'manifest'>> = {
  tier: 'staff',
  reasons: ['It has knowledge files.'],
  checks: { schema: 'pass', injection_scan: 'pass', tool_names: 'pass', permissions: 'pass' },
  evidence: [],
  dropped: [],
}
