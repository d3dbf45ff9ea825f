import { type Dialog, type Model, type RowOf, rowsOf } from '../state/model'
import { dialog } from './list-view'

export type Chat = RowOf<'takeovers'>
type Note = { author: { name: string }; content: string }
type Visitor = { identity: { name: string | null } | null; context: Record<string, unknown> | null }
export type Message = {
  id: string
  role: 'user' | 'assistant' | 'operator' | 'system'
  content: string
  created_at: string
}

export const isMine = (model: Model, { operator_id }: Chat): boolean =>
  operator_id !== null && operator_id === model.holder

/** Order: waiting chats with the longest wait first, then mine, others', and the AI's (docs/operating.md 3.5). */
export function chatsOf(model: Model): Chat[] {
  const all = rowsOf(model, 'takeovers')
  const of = (wanted: (chat: Chat) => boolean) => all.filter(wanted)
  const waiting = of(({ takeover_status }) => takeover_status === 'requested')
  const held = of(({ takeover_status }) => takeover_status === 'human')
  return [
    ...waiting.sort((a, b) => sinceOf(a) - sinceOf(b)),
    ...held.filter((chat) => isMine(model, chat)),
    ...held.filter((chat) => !isMine(model, chat)),
    ...of(({ takeover_status }) => takeover_status === 'ai'),
  ]
}

/** Since when the chat waits or has an operator, in epoch ms. */
export const sinceOf = ({ since, changed_at }: Chat): number => Date.parse(since ?? changed_at)

export const chosenChat = (model: Model): Chat | null => {
  const chats = chatsOf(model)
  return chats.find(({ id }) => id === model.lists.takeovers.chosen) ?? chats[0] ?? null
}

/** Key of the AI's last draft for a chat. */
export const suggestionOf = (chat: string): string => `drafts/${chat}`

/** What was loaded for a chat. Null before that. */
export const readOf = ({ details }: Model, chat: Chat) =>
  (details[chatPath(chat)]?.value ?? null) as { messages?: Message[]; notes?: Note[]; visitor?: Visitor } | null

export const chatPath = ({ widget_id, id }: Pick<Chat, 'widget_id' | 'id'>): string =>
  `iframes/${widget_id}/conversations/${id}`

/** Loads a chat with its messages and notes. */
export const readChat = (chat: Pick<Chat, 'widget_id' | 'id'>) =>
  ({ type: 'read', name: chatPath(chat), path: chatPath(chat) }) as const

export const pathOf = (url: string | null): string => (url && URL.canParse(url) ? new URL(url).pathname : '')
export const flat = (text: string): string => text.replaceAll(/\s+/g, ' ')

/** Dialogs before a note is written or a chat is handed over. */
export const CHAT_DIALOGS: Readonly<Record<string, (chat: Chat) => Dialog>> = {
  'takeovers.note': ({ id, widget_id }) =>
    dialog(
      'Write a note?',
      ['Colleagues see it next to the chat. The visitor never does.'],
      [['takeovers', 'note', '--widget', widget_id, '--', id, '$']],
      'Write note',
      { label: 'Note', flag: null, text: '', required: true },
    ),
  'takeovers.hand': ({ id, widget_id }) =>
    dialog(
      'Hand the chat over to a colleague?',
      ['They answer from then on instead of you. The visitor sees no difference.'],
      [['takeovers', 'handover', id, '--widget', widget_id]],
      'Hand over',
      { label: 'E-mail', flag: '--to', text: '', required: true },
    ),
}
