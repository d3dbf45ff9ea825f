/** The description of each group of routes, in the order of the document. */
const TAGS: Record<string, string> = {
  Completions: 'Answers to prompts, in the native format.',
  Chat: 'Answers to messages, in the chat-completions format.',
  Models: 'The engines and the modes they serve.',
  Tools: 'Tools that engines may call while they answer.',
  Skills: 'Instructions, knowledge and tools that help with answers: write, review, publish and install them.',
  Workflows: 'Steps that follow a trigger: schedules, events, approvals and what they do.',
  Canvases: 'Skills drawn as graphs of nodes and edges: edit, compile, try and publish them.',
  Conversations: 'Stored conversations, continued by their id.',
  Research: 'Reports from many sources, in which every cited sentence can be checked.',
  Images: 'Pictures from a description.',
  Jobs: 'Work that outlives its request: its progress, its result, and how to cancel it.',
  Videos: 'Short clips made from a description, as jobs.',
  Browser: 'Sessions of a real browser that an agent works and a person watches.',
  Audio: 'Speech from text, text from speech, and live voice sessions.',
  Code: 'Programs and projects that an engine writes, as files.',
  Documents: 'Documents of a prompt, or of text and data, as PDF, Office files and CSV.',
  Channels: 'Where people write from, and whether they still do.',
  Hooks: 'Skills that run when an event happens, and what came of it.',
  Webhooks: 'Addresses that receive events, signed, and what became of each delivery.',
  Events: 'What happened: publish events of your own, and read those there were.',
  Widgets: 'Chats on pages of others: how they look, what visitors said, and how a person takes over.',
  'Widget visitors': 'What the page of a widget calls: no account, but an allowed origin and the token of a chat.',
  Artifacts: 'Files that answers and jobs made, behind links that work for an hour.',
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
