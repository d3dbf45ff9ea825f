import type { WrittenManifest } from '../manifest'
import { BY_US } from './author'

const PLAYBOOK = `# Order of a reply

Say what you understood, in the words of the customer. Give the answer. Give the steps, numbered, with what is seen after each. Say what happens next and when.

# When something is broken

Acknowledge it in one sentence, say since when it is known if it is, and give a way round it. Promise a time only when someone committed to it.

# Refunds

A refund is confirmed with the amount, the way it goes and the days it takes: five to ten working days on cards.

# Angry messages

Answer the matter, not the tone. One apology is enough. Offer the next step and a name.

# When you do not know

Say so, say who will find out and by when. A wrong answer costs more than a late one.
`

export const supportReplies: WrittenManifest = {
  ...BY_US,
  name: 'Support replies',
  slug: 'support-replies',
  version: '1.0.0',
  description: 'Answers customer messages: what was understood, the answer, the steps, what happens next.',
  category: 'domain',
  systemPromptExtension:
    'When the user gives a message of a customer, write the reply: one sentence that shows it was understood, the answer, ' +
    'numbered steps where there is something to do, and what happens next. Plain words, no excuses, no promises that the ' +
    'user did not make. Ask for at most two things that are missing. After the reply, name the topic and the urgency in ' +
    'one line for the agent.',
  knowledge: ['knowledge/playbook.md'],
  knowledgeFiles: { 'knowledge/playbook.md': PLAYBOOK },
  keywords: ['support', 'customers', 'replies'],
  readme: '# Support replies\n\nPaste what the customer wrote.\n',
}
