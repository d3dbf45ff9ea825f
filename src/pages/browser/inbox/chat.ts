import { h, setText } from '../shared/dom'
import { createFormatting } from '../shared/formatting'
import { pathOf, timeOf } from './queue'
import { type Chat, type Me, type Message, mine, type Transcript } from './wire'
import { WORDS } from './words'

/** Typing is told over and over; without a word for so long it has ended. */
const TYPING_MS = 5_000

type Actions = {
  take(force: boolean): void
  release(): void
  close(): void
  back(): void
  choose(chat: Chat): void
  note(text: string): Promise<unknown>
}

/** The open conversation: who has it, what was said, and what is known of the visitor. */
export function createChat(me: Me, actions: Actions) {
  const heading = h('h2', { tabindex: -1 }, WORDS.choose)
  const buttons = h('p', { class: 'buttons' })
  const log = h('div', { role: 'log', 'aria-live': 'polite', 'aria-label': 'Messages', class: 'log' })
  const scroller = h('div', { class: 'transcript', tabindex: 0, role: 'group', 'aria-label': 'Conversation' }, log)
  const about = h('dl', {})
  const notes = createNotes(actions.note)
  const aside = h(
    'section',
    { class: 'about', 'aria-label': WORDS.about, hidden: true },
    h('h2', {}, WORDS.about),
    about,
    notes.element,
  )
  const left = h('p', { class: 'banner', role: 'status', hidden: true })
  const typing = h('p', { class: 'typing', role: 'status' })
  const back = h('button', { type: 'button', class: 'back', click: actions.back }, WORDS.back)
  const element = h(
    'section',
    { 'aria-label': 'Conversation', class: 'chat' },
    h('header', {}, back, heading, buttons),
    left,
    scroller,
    typing,
  )
  let shown: string | null = null
  let typingEnds: ReturnType<typeof setTimeout> | undefined
  const known = new Set<string>()
  const texts = new Map<Element, string>()
  const formatting = createFormatting(() => {
    const wasAtEnd = isAtEnd()
    for (const [element, text] of texts) element.replaceChildren(formatting.format(text))
    if (wasAtEnd) scroller.scrollTop = scroller.scrollHeight
  })

  const isAtEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 80

  function rowOf(message: Message, chat: Chat): HTMLElement {
    const text = h('div', { class: 'text', dir: 'auto' })
    const plain = message.role === 'user' || message.role === 'system'
    if (!plain) texts.set(text, message.content)
    text.append(plain ? message.content : formatting.format(message.content))
    return h(
      'article',
      { class: `message ${message.role}` },
      message.role !== 'system' &&
        h(
          'p',
          { class: 'speaker' },
          `${
            {
              user: WORDS.visitor,
              assistant: WORDS.assistant,
              operator: chat.operator?.name ?? WORDS.operator,
              system: '',
            }[message.role]
          }, ${timeOf(message.created_at)}`,
        ),
      text,
      ...linksOf(message),
    )
  }

  /** Pictures of the visitor and files of the assistant, opened by whoever wants to see them. */
  function linksOf({ artifacts = [] }: Message): HTMLElement[] {
    return artifacts.flatMap(({ url, title, filename }) =>
      url && /^(?:https?:\/\/|\/)/.test(url)
        ? [
            h(
              'p',
              {},
              h('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, title ?? filename ?? WORDS.file),
            ),
          ]
        : [],
    )
  }

  function buttonsOf(chat: Chat): HTMLElement[] {
    if (chat.status === 'closed') return []
    const button = (label: string, click: () => void, primary = false) =>
      h('button', { type: 'button', class: primary ? 'primary' : null, click }, label)
    const close = button(WORDS.close, actions.close)
    if (mine(chat, me)) return [button(WORDS.release, actions.release, true), close]
    if (chat.takeover_status === 'human')
      return [button(WORDS.takeFrom(chat.operator?.name ?? WORDS.operator), () => actions.take(true)), close]
    return [button(WORDS.take, () => actions.take(false), true), close]
  }

  function describe(chat: Chat, others: Chat[]): void {
    const { visitor, created_at, reason } = chat
    const page = visitor.page_url
    const isLink = page !== null && /^https?:\/\//.test(page)
    const { identity, context } = visitor
    const names = [identity?.name, identity?.email, identity?.external_id].filter(Boolean).join(', ')
    const facts: [string, Node | string][] = [
      ...(identity
        ? ([[WORDS.who, `${names} (${identity.verified ? WORDS.verified : WORDS.unverified})`]] as [string, string][])
        : []),
      [
        WORDS.page,
        isLink ? h('a', { href: page, target: '_blank', rel: 'noopener noreferrer' }, pathOf(chat)) : pathOf(chat),
      ],
      [WORDS.since, timeOf(created_at)],
      [WORDS.browser, visitor.user_agent ?? WORDS.none],
      ...Object.entries(context ?? {}).map(([name, value]) => [name, String(value)] as [string, string]),
      ...(reason ? ([[WORDS.asked, reason]] as [string, string][]) : []),
    ]
    const earlier = others.map((other) =>
      h('button', { type: 'button', class: 'link', click: () => actions.choose(other) }, timeOf(other.created_at)),
    )
    about.replaceChildren(
      ...facts.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
      h('dt', {}, WORDS.earlier),
      h('dd', {}, ...(earlier.length ? earlier : [WORDS.none])),
    )
  }

  /** Says that the visitor writes, for as long as that is told over and over. */
  function typed(text: string): void {
    clearTimeout(typingEnds)
    setText(typing, text)
    if (text) typingEnds = setTimeout(() => typed(''), TYPING_MS)
  }

  return {
    element,
    aside,
    typing: () => typed(WORDS.visitorWrites),
    /** Once the page is there: has texts formatted. */
    format: formatting.load,
    show(chat: Transcript, others: Chat[]): void {
      const isNew = shown !== chat.session_id
      if (isNew || chat.messages.some(({ role, id }) => role === 'user' && !known.has(id))) typed('')
      if (isNew) {
        shown = chat.session_id
        known.clear()
        texts.clear()
        log.replaceChildren()
      }
      // Where it does not fit a path is broken after a slash.
      setText(heading, `${me.widgets[chat.config_id] ?? ''}: ${pathOf(chat).replaceAll('/', '/\u200b')}`)
      const had = buttons.contains(document.activeElement)
      const labels = buttonsOf(chat)
      if (
        isNew ||
        labels.map(({ textContent }) => textContent).join() !==
          [...buttons.children].map(({ textContent }) => textContent).join()
      ) {
        buttons.replaceChildren(...labels)
        if (had) (labels[0] ?? heading).focus()
      }
      const leftAt = chat.status === 'open' ? (chat.visitor_left_at ?? null) : null
      left.hidden = leftAt === null
      setText(left, leftAt === null ? '' : WORDS.left(timeOf(leftAt)))
      const atEnd = isNew || isAtEnd()
      for (const message of chat.messages) {
        if (known.has(message.id)) continue
        known.add(message.id)
        log.append(rowOf(message, chat))
      }
      if (atEnd) scroller.scrollTop = scroller.scrollHeight
      aside.hidden = false
      notes.show(chat)
      describe(chat, others)
      if (isNew) heading.focus()
    },
    clear(): void {
      shown = null
      setText(heading, WORDS.choose)
      buttons.replaceChildren()
      log.replaceChildren()
      left.hidden = true
      typed('')
      aside.hidden = true
    },
  }
}

/** What people write about the open chat for each other, and the form to write more. */
function createNotes(save: (text: string) => Promise<unknown>) {
  const list = h('ul', { class: 'notes' })
  const problem = h('p', { class: 'problem', role: 'alert' })
  const field = h('textarea', { id: 'note', rows: 2 })
  const form = h(
    'form',
    { class: 'note' },
    problem,
    h('label', { for: 'note' }, WORDS.noteField),
    field,
    h('button', { type: 'submit' }, WORDS.noteSave),
  )
  const element = h('div', {}, h('h2', {}, WORDS.notes), list, form)
  let shown = ''

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const text = field.value.trim()
    if (!text) return
    save(text).then(
      () => {
        field.value = ''
        setText(problem, '')
      },
      (error: Error) => setText(problem, error.message),
    )
  })

  return {
    element,
    show({ session_id, notes }: Transcript): void {
      if (shown !== session_id) {
        field.value = ''
        setText(problem, '')
      }
      shown = session_id
      list.replaceChildren(
        ...notes.map(({ author, content, created_at }) =>
          h('li', {}, h('p', { class: 'faint' }, `${author.name}, ${timeOf(created_at)}`), h('p', {}, content)),
        ),
      )
    },
  }
}
