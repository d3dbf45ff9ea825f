import { useEffect, useRef, useState } from 'react'
import type { WidgetSession, WidgetTranscript } from '../../../../../widgets/schema-sessions'
import type { ServerEvent } from '../../../shared/http'
import { Failure, useOwner } from '../../shell/api'
import { boot } from '../../shell/boot'
import { useStream } from '../../shell/live'

export type Chat = WidgetSession
export type Transcript = WidgetTranscript

/** Key of a chat in the address: the widget and the conversation. */
export const keyOf = ({ config_id, session_id }: Chat): string => `${config_id}.${session_id}`
export const isMine = (chat: Chat): boolean => chat.takeover_status === 'human' && chat.operator?.id === boot.user.id
export const isWaiting = (chat: Chat): boolean => chat.status === 'open' && chat.takeover_status === 'requested'

/** True for the same person, as verified by the shop's server, or for the same browser. */
export function isSameVisitor(a: Chat, b: Chat): boolean {
  const [one, other] = [a.visitor.identity, b.visitor.identity]
  const isProven = one?.verified && other?.verified && one.external_id !== null
  return a.visitor.id === b.visitor.id || (isProven === true && one.external_id === other.external_id)
}

/** The path of the visitor's page, or another known fact about it. */
export function pathOf({ visitor }: Chat): string {
  const address = visitor.page_url ?? visitor.origin
  if (!address || !URL.canParse(address)) return 'Visitor'
  const { host, pathname } = new URL(address)
  return `${host}${pathname}`.slice(0, 60)
}

const RANK = { requested: 0, human: 1, ai: 2 }
const rankOf = (chat: Chat) => (chat.status === 'closed' ? 3 : RANK[chat.takeover_status])
const lastOf = (chat: Chat) => chat.last_message_at ?? chat.created_at
/** Waiting chats come first, then those that people have, then the assistant's. Within each group, the newest first. */
const byUrgency = (a: Chat, b: Chat) => rankOf(a) - rankOf(b) || lastOf(b).localeCompare(lastOf(a))

const TYPING_MS = 5_000

/**
 * The conversations of all widgets and the open one, kept up to date. `hurry` reads them again after the reader's own
 * change.
 */
export function useInbox(open: string | null) {
  const owner = useOwner()
  const [chats, setChats] = useState<Chat[] | null>(null)
  const [chat, setChat] = useState<Transcript | null>(null)
  const [isTyping, setTyping] = useState(false)
  const [isLost, setLost] = useState(false)
  const [isGone, setGone] = useState(false)
  const typingEnds = useRef<ReturnType<typeof setTimeout>>(undefined)
  const typed = (is: boolean) => {
    clearTimeout(typingEnds.current)
    setTyping(is)
    if (is) typingEnds.current = setTimeout(() => setTyping(false), TYPING_MS)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs again for another owner or conversation
  useEffect(() => {
    setChat(null)
    setGone(false)
    return () => clearTimeout(typingEnds.current)
  }, [owner.id, open])
  const take = ({ name, data }: ServerEvent) => {
    setLost(false)
    if (name === 'queue') setChats((data as { conversations: Chat[] }).conversations.toSorted(byUrgency))
    else if (name === 'typing') typed(true)
    else if (name === 'error') throw new Failure(404, 'gone', 'This chat no longer exists.')
    else if (name === 'chat') {
      const next = data as Transcript
      if (next.messages.some(({ role }) => role === 'user')) typed(false)
      setChat((now) => {
        const known = now?.messages ?? []
        const fresh = next.messages.filter(({ id }) => !known.some((message) => message.id === id))
        return { ...next, messages: [...known, ...fresh] }
      })
    }
  }
  const hurry = useStream('/console/inbox/events', take, {
    query: open ? { chat: open.replace('.', '/') } : {},
    lost: () => setLost(true),
    refused: ({ status }) => setGone(status === 404),
  })
  return { chats, chat, isTyping, isLost, isGone, hurry }
}
