import { h, setText } from '../shared/dom'
import { keep, recall } from './kept'
import { type Chat, isSameVisitor, keyOf, type Me, mine } from './wire'
import { WORDS } from './words'

const ORDER = { requested: 0, human: 1, ai: 2 }

/** The list of conversations: who waits comes first, then what people have, then what the assistant has. */
export function createQueue(me: Me, choose: (chat: Chat) => void) {
  const summary = h('p', { role: 'status', class: 'summary' })
  const list = h('ul', { class: 'queue' })
  const element = h('nav', { 'aria-label': 'Conversations' }, summary, list)
  const seen = recall<Record<string, number>>('seen', {})
  let chats: Chat[] = []
  let chosen: string | null = null

  function labelOf(chat: Chat): string {
    if (chat.status === 'closed') return WORDS.status.closed
    if (chat.takeover_status !== 'human') return WORDS.status[chat.takeover_status]
    return mine(chat, me) ? WORDS.withYou : WORDS.withOther(chat.operator?.name ?? WORDS.status.human)
  }

  function rowOf(chat: Chat): HTMLElement {
    const count = keyOf(chat) === chosen ? 0 : Math.max(0, chat.message_count - (seen[chat.session_id] ?? 0))
    const time = chat.last_message_at ?? chat.created_at
    return h(
      'li',
      {},
      h(
        'button',
        {
          type: 'button',
          'data-key': keyOf(chat),
          'aria-current': keyOf(chat) === chosen ? 'true' : null,
          click: () => choose(chat),
        },
        h('strong', {}, me.widgets[chat.config_id] ?? chat.config_id.slice(0, 8)),
        h('span', { class: `badge ${chat.status === 'closed' ? 'closed' : chat.takeover_status}` }, labelOf(chat)),
        h('span', { class: 'faint' }, timeOf(time), ' · ', pathOf(chat)),
        count > 0 && h('span', { class: 'count' }, WORDS.unread(count)),
      ),
    )
  }

  function draw(): void {
    const waiting = chats.filter(({ takeover_status, status }) => takeover_status === 'requested' && status === 'open')
    setText(summary, chats.length === 0 ? WORDS.nobody : waiting.length ? WORDS.waiting(waiting.length) : '')
    const focused = (document.activeElement as HTMLElement | null)?.dataset?.key
    list.replaceChildren(...chats.map(rowOf))
    if (focused) list.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus()
  }

  return {
    element,
    show(notices: Chat[]): void {
      const rank = (chat: Chat) => (chat.status === 'closed' ? 3 : ORDER[chat.takeover_status])
      chats = [...notices].sort(
        (a, b) =>
          rank(a) - rank(b) || (b.last_message_at ?? b.created_at).localeCompare(a.last_message_at ?? a.created_at),
      )
      const open = chats.find((chat) => keyOf(chat) === chosen)
      if (open) read(open)
      draw()
    },
    mark(chat: Chat | null): void {
      chosen = chat && keyOf(chat)
      if (chat) read(chat)
      draw()
    },
    ofVisitor: (chat: Chat): Chat[] =>
      chats.filter((other) => other.session_id !== chat.session_id && isSameVisitor(other, chat)),
    focus: () => list.querySelector<HTMLElement>('[aria-current], button')?.focus(),
  }

  function read(chat: Chat): void {
    seen[chat.session_id] = chat.message_count
    keep('seen', seen)
  }
}

/** The path of the page that the visitor is on, or what else is known of it. */
export function pathOf({ visitor }: Chat): string {
  const address = visitor.page_url ?? visitor.origin
  if (!address || !URL.canParse(address)) return WORDS.visitor
  const { host, pathname } = new URL(address)
  return `${host}${pathname}`.slice(0, 60)
}

/** Of today the hour alone. */
export function timeOf(at: string): string {
  const then = new Date(at)
  const isToday = then.toDateString() === new Date(performance.timeOrigin + performance.now()).toDateString()
  return then.toLocaleString(undefined, { ...(isToday ? {} : { dateStyle: 'short' }), timeStyle: 'short' })
}
