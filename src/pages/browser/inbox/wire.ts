/** One conversation as the API tells it (contract 15). */
export type Chat = {
  session_id: string
  config_id: string
  status: 'open' | 'closed'
  takeover_status: 'ai' | 'requested' | 'human'
  operator: { id: string; name: string } | null
  visitor: {
    id: string
    user_agent: string | null
    origin: string | null
    page_url: string | null
    identity: { name: string | null; email: string | null; external_id: string | null; verified: boolean } | null
    context: Record<string, string | number | boolean | null> | null
  }
  message_count: number
  created_at: string
  last_message_at: string | null
  reason?: string | null
  visitor_left_at?: string | null
}
export type Message = {
  id: string
  role: 'user' | 'assistant' | 'operator' | 'system'
  content: string
  artifacts?: { url?: string | null; title?: string | null; filename?: string | null }[]
  created_at: string
}
type Note = { id: string; author: { id: string; name: string }; content: string; created_at: string }
export type Transcript = Chat & { messages: Message[]; notes: Note[] }
/** What the server wrote into the page. */
export type Me = { id: string; name: string; widgets: Record<string, string>; people: { id: string; name: string }[] }

export const mine = (chat: Chat, me: Me): boolean => chat.takeover_status === 'human' && chat.operator?.id === me.id
/** The same person as far as the server of the shop has said so, or the same browser. */
export function isSameVisitor(a: Chat, b: Chat): boolean {
  const [one, other] = [a.visitor.identity, b.visitor.identity]
  const isProven = one?.verified && other?.verified && one.external_id !== null
  return a.visitor.id === b.visitor.id || (isProven === true && one.external_id === other.external_id)
}
export const keyOf = (chat: Chat): string => `${chat.config_id}/${chat.session_id}`
