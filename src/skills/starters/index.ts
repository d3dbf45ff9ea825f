import { type SkillManifest, type WrittenManifest, withDefaults } from '../manifest'
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
