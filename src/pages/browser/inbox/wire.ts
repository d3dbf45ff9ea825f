/** One conversation as the API tells it (contract 15). */
export type Chat = {
  session_id: string
  config_id: string
  status: 'open' | 'closed'
  takeover_status: 'ai' | 'requested' | 'human'
  operator: { id: string; name: string } | null
  visitor: { id: string; user_agent: string | null; origin: string | null; page_url: string | null }
  message_count: number
  created_at: string
  last_message_at: string | null
  reason?: string | null
}
export type Message = {
  id: string
  role: 'user' | 'assistant' | 'operator' | 'system'
  content: string
  created_at: string
}
export type Transcript = Chat & { messages: Message[] }
/** What the server wrote into the page. */
export type Me = { id: string; name: string; widgets: Record<string, string> }

export const mine = (chat: Chat, me: Me): boolean => chat.takeover_status === 'human' && chat.operator?.id === me.id
export const keyOf = (chat: Chat): string => `${chat.config_id}/${chat.session_id}`
