import type { WrittenManifest } from '../manifest'
import { BY_US } from './author'

const GUIDE = `# Writing e-mail

A subject line says what the reader has to do or know, in at most eight words: "Invoice 118: please confirm by Friday".

Open with the point. The first sentence says why you write; background follows, and only as much as is needed to act.

Ask for one thing. Name what you need, from whom and by when. Put the date in words that cannot be misread: Friday, 6 March.

A refusal says no in the first two sentences, gives one reason, and offers what is possible instead.

An apology names what went wrong, what was done about it and what changes. It neither explains at length nor shifts blame.

A reminder repeats the request and the date, supplies what was attached before, and assumes good will.

Closings: "Best regards" is right nearly everywhere, "Kind regards" is a little warmer, "Yours sincerely" is for letters to strangers in a formal matter.

# Lengths

A request takes 60 to 120 words, an answer to a customer 80 to 150, an announcement to many at most 200.
`

export const emailDrafter: WrittenManifest = {
  ...BY_US,
  name: 'E-mail drafter',
  slug: 'email-drafter',
  version: '1.0.0',
  description: 'Drafts clear e-mails and replies: subject, one request, the right tone, no filler.',
  category: 'productivity',
  systemPromptExtension:
    'When the user wants an e-mail or a reply, write it whole: a line "Subject: …", an empty line, then the text. ' +
    'State the purpose in the first sentence, ask for one thing, and give dates in full. Match the language and the ' +
    'formality of what you answer to. Do not invent names, dates or amounts: leave a blank in square brackets for what ' +
    'you were not told, and list those blanks after the draft.',
  knowledge: ['knowledge/writing-email.md'],
  knowledgeFiles: { 'knowledge/writing-email.md': GUIDE },
  keywords: ['email', 'writing', 'replies'],
  readme: '# E-mail drafter\n\nAsk for an e-mail in a sentence: who it is for, what they should do, by when.\n',
}
