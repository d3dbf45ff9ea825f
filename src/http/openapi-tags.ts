/** The description of each group of routes, in the order of the document. */
const TAGS: Record<string, string> = {
  Completions: 'Answers to prompts, in the native format.',
  Chat: 'Answers to messages, in the chat-completions format.',
  Models: 'The engines and the modes they serve.',
  Tools: 'Tools that engines can call.',
  Skills: 'Instructions, knowledge and tools for answers: write, review, publish and install them.',
  Workflows: 'Steps that run on a trigger: by schedule, event or request, with approvals.',
  Canvases: 'Skills drawn as graphs of nodes and edges: edit, compile, test and publish them.',
  Conversations: 'Stored conversations that you continue by id.',
  Research: 'Reports from many sources, with citations you can verify.',
  Images: 'Pictures from a description.',
  Jobs: 'Work that outlives its request: progress, results and cancellation.',
  Videos: 'Short clips from a description, as jobs.',
  Browser: 'Sessions of a real browser that an agent controls and a person can watch.',
  Audio: 'Speech from text, text from speech, and live voice sessions.',
  Code: 'Programs and projects that an engine writes, as files.',
  Documents: 'PDF, Office and CSV files from a prompt, or from your text and data.',
  Channels: 'Messaging channels and their status.',
  Hooks: 'Skills that run when an event happens, with their history.',
  Webhooks: 'Addresses that receive signed events, with a log of deliveries.',
  Events: 'Publish your own events, and read past ones.',
  Widgets: 'Chats on your website: appearance, conversations, and takeover by a person.',
  'Widget visitors': 'What a widget calls from your page: an allowed origin and a chat token replace the key.',
  Artifacts: 'Files from answers and jobs, with links that work for an hour.',
  Memory: 'Facts and preferences used in later answers.',
  'API keys': 'Keys, their scopes, limits and caps.',
  Guardrails: 'Policies that block, redact or flag prompts, answers and tool calls.',
  'Routing preferences': 'Rules for the mode and engine of prompts sent in mode `auto`.',
  Organizations: 'Organizations, their members, roles and invitations.',
  Settings: 'Your preferences.',
  Accounts: 'Sign-up, dashboard sessions and the signed-in user.',
  'Rate limits': 'Requests and tokens per minute, and requests for a higher tier.',
  Usage: 'Reports and exports of calls, tokens, costs and latency.',
  Billing: 'Buying credit, spending caps, low-balance notices and automatic top-up.',
  Audit: 'The tamper-evident audit events of your account.',
  Health: 'Whether the server and its parts work.',
  Document: 'This document.',
}

const ORDER = Object.keys(TAGS)

/** The `tags` of the document: those in use, each with its description. */
export function describeTags(used: Iterable<string>): { name: string; description?: string }[] {
  const names = [...new Set(used)].sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b))
  return names.map((name) => ({ name, ...(TAGS[name] ? { description: TAGS[name] } : {}) }))
}
