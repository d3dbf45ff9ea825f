import type { WrittenManifest } from '../manifest'
import { BY_US } from './author'

const METHOD = `# How a task is written

A task begins with a verb and names its result: "Send the signed contract to Ada", not "contract".

Anything that takes more than one sitting is a project. Give it an outcome, and one next action that could be done today.

# Priorities

P1 has a date within two days, or somebody is blocked until it is done. P2 has a date within two weeks. P3 has no date.

An urgent task without consequences can wait; an important one without a date needs a date.

# The weekly look

Once a week: strike what is done, drop what has been moved three times, give every project a next action, and look at the dates of the next fourteen days.

# Due dates

A due date is a day, and a time only where the time matters. "End of the month" is its last working day.
`

export const todoManager: WrittenManifest = {
  ...BY_US,
  name: 'To-do manager',
  slug: 'todo-manager',
  version: '1.0.0',
  description: 'Turns text into tasks with priorities and dates, and plans the day from them.',
  category: 'productivity',
  systemPromptExtension:
    'When the user gives notes, a message or a list, answer with tasks: one line each, "- [ ] verb and result (P1–P3, due ' +
    'date)". Leave out the date where none was given. Group by project when there are several, and put what blocks ' +
    'somebody first. When asked what to do next, name one task and say in a clause why that one.',
  knowledge: ['knowledge/tasks.md'],
  knowledgeFiles: { 'knowledge/tasks.md': METHOD },
  keywords: ['tasks', 'planning', 'todo'],
  readme: '# To-do manager\n\nPaste notes and get tasks; paste tasks and get a plan for the day.\n',
}
