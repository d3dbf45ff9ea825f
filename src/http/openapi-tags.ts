/** The description of each group of routes, in the order of the document. */
const TAGS: Record<string, string> = {
  Completions: 'Prompts in, answers out: the native form.',
  Chat: 'The same, in the form that chat-completions clients speak.',
  Models: 'The engines and the modes they serve.',
  Tools: 'What engines may use while they answer you.',
  Skills: 'What an answer can be helped by: written, reviewed, published, installed.',
  Canvases: 'Skills that are drawn: nodes and edges, compiled, tried out and published.',
  Conversations: 'Turns kept for you, and continued by id.',
  Memory: 'What you want remembered in later answers.',
  'API keys': 'Keys, their scopes, limits and caps.',
  Guardrails: 'What must not come in, go out or be called, and what happens then.',
  'Routing preferences': 'Which mode and engine a prompt gets when the choice is left to the service.',
  Organizations: 'Teams: who belongs to them, and as what.',
  Settings: 'Your preferences.',
  Accounts: 'Dashboard sessions and who is asking.',
  'Rate limits': 'What you may ask in a minute, and what is left of it.',
  Usage: 'What was called, when, and what it cost.',
  Billing: 'Credit: what it may be spent on, how it is bought, and when it runs low.',
  Audit: 'The tamper-evident record of your account.',
  Health: 'Whether everything answers.',
  Document: 'This document.',
}

const ORDER = Object.keys(TAGS)

/** The `tags` of the document: those in use, each with its description. */
export function describeTags(used: Iterable<string>): { name: string; description?: string }[] {
  const names = [...new Set(used)].sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b))
  return names.map((name) => ({ name, ...(TAGS[name] ? { description: TAGS[name] } : {}) }))
}
