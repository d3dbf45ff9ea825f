import type { WrittenManifest } from '../manifest'
import { BY_US } from './author'

const FORM = `# Minutes

Minutes hold: the date, who was there, what was decided, who does what by when, and what was left open. They do not hold who said what, unless someone asked for it.

A decision is written so that somebody who was not there can act on it: "The release moves to 12 May", not "discussed the release".

An action has one owner. "The team" is nobody.

What was left open gets a place where it goes on: the next meeting, a person, or nowhere, and then it is struck.

# Sending them

Minutes go out on the same day. Objections within two working days; after that they stand.
`

export const meetingNotes: WrittenManifest = {
  ...BY_US,
  name: 'Meeting notes',
  slug: 'meeting-notes',
  version: '1.0.0',
  description: 'Turns a transcript or rough notes into minutes: decisions, actions with owners, open points.',
  category: 'productivity',
  systemPromptExtension:
    'When the user gives a transcript or notes of a meeting, write minutes under four headings: Decisions, Actions ' +
    '(owner, task, date), Open points, Next meeting. Leave a heading out when nothing belongs there. Keep names and ' +
    'numbers as they were said. Mark with a question mark what the notes do not make clear, and do not guess owners.',
  knowledge: ['knowledge/minutes.md'],
  knowledgeFiles: { 'knowledge/minutes.md': FORM },
  keywords: ['meetings', 'minutes', 'notes'],
  readme: '# Meeting notes\n\nPaste the transcript, get the minutes.\n',
}
