import { h } from '../shared/dom'
import { createFormatting } from '../shared/formatting'
import type { Message } from './wire'
import { WORDS } from './words'

export type Row = {
  role: Message['role']
  /** Null until the server has assigned it. */
  id(): string | null
  text(): string
  identify(known: string): void
  /** Shows a text. Draws at most once per animation frame, however fast tokens arrive. */
  write(text: string): void
  draw(): void
  /** The message is complete: moves it into the log, which announces it. */
  finish(): void
  /** A line below the text, with an optional action. */
  note(text: string, action?: { label: string; run(): void }): void
  addLinks(links: { label: string; url: string }[]): void
  remove(): void
}

/** Within this distance from the end, the reader counts as being at the end and stays there. */
const NEAR_END_PX = 80

/**
 * The messages. Finished ones are in the log, which screen readers read aloud once. A growing one is below and outside
 * the log, and moves into it when it is complete (SC 4.1.3).
 */
export function createTranscript() {
  const log = h('div', { role: 'log', 'aria-live': 'polite', 'aria-label': WORDS.conversation, class: 'log' })
  const growing = h('div', { class: 'log growing', 'aria-live': 'off' })
  const typing = h('p', { class: 'typing', role: 'status' })
  const element = h(
    'div',
    { class: 'transcript', tabindex: 0, role: 'group', 'aria-label': WORDS.conversation },
    log,
    growing,
    typing,
  )
  const rows = new Map<string, Row>()
  const pending: Row[] = []
  const drawn = new Set<Row>()
  const formatting = createFormatting(() => {
    for (const row of drawn) row.draw()
  })
  const toEnd = () => {
    element.scrollTop = element.scrollHeight
  }
  let isAtEnd = true
  element.addEventListener('scroll', () => {
    isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX
  })
  /** Changes the list and stays at its end if the reader was there. */
  function staying(change?: () => void): void {
    change?.()
    if (isAtEnd) toEnd()
  }
  // A banner, a long draft or a phone's keyboard makes it smaller, without a scroll event.
  new ResizeObserver(() => staying()).observe(element)

  function add(
    role: Message['role'],
    text: string,
    options: { id?: string; name?: string; grows?: boolean } = {},
  ): Row {
    const speaker = {
      user: WORDS.you,
      assistant: WORDS.assistant,
      operator: WORDS.person(options.name ?? WORDS.somebody),
      system: '',
    }
    const links = h('div')
    const body = h('div', { class: 'text', dir: 'auto' })
    const note = h('p', { class: 'note' })
    const article = h(
      'article',
      { class: `message ${role}` },
      role !== 'system' && h('p', { class: role === 'operator' ? 'speaker' : 'hidden' }, `${speaker[role]}:`),
      body,
      note,
    )
    let id: string | null = null
    let content = ''
    let drawing = 0

    const row: Row = {
      role,
      id: () => id,
      text: () => content,
      identify(known) {
        // The same message already arrived as an event. Keeps this row, which may still grow, and removes the other.
        const twin = rows.get(known)
        if (twin !== row) twin?.remove()
        id = known
        rows.set(known, row)
        const at = pending.indexOf(row)
        if (at >= 0) pending.splice(at, 1)
      },
      write(text) {
        content = text
        drawing ||= requestAnimationFrame(() => {
          drawing = 0
          row.draw()
        })
      },
      draw() {
        const shown =
          role === 'user' || role === 'system' ? document.createTextNode(content) : formatting.format(content)
        staying(() => body.replaceChildren(shown, ...(links.hasChildNodes() ? [links] : [])))
      },
      finish() {
        cancelAnimationFrame(drawing)
        drawing = 0
        row.draw()
        if (article.parentNode === growing) staying(() => log.append(article))
      },
      note(text, action) {
        note.replaceChildren(text)
        if (action) note.append(' ', h('button', { type: 'button', class: 'link', click: action.run }, action.label))
        staying()
      },
      addLinks(more) {
        for (const { label, url } of more) {
          if (!/^(?:https?:\/\/|\/)/.test(url)) continue
          links.append(h('p', {}, h('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, label)))
        }
        if (links.hasChildNodes()) body.append(links)
      },
      remove() {
        article.remove()
        drawn.delete(row)
        if (id) rows.delete(id)
        const at = pending.indexOf(row)
        if (at >= 0) pending.splice(at, 1)
      },
    }
    content = text
    row.draw()
    drawn.add(row)
    ;(options.grows ? growing : log).append(article)
    if (options.id) row.identify(options.id)
    else if (role === 'user' || role === 'assistant') pending.push(row)
    toEnd()
    return row
  }

  return {
    element,
    /** Formats the texts, once the chat is ready. */
    format: formatting.load,
    add,
    has: (id: string) => rows.has(id),
    /** Adds a link below a message to the page where the owner continues the chat. */
    link(id: string, url: string): void {
      if (URL.canParse(url)) rows.get(id)?.addLinks([{ label: WORDS.goOn(new URL(url).host), url }])
    },
    /** The row of this page for a server message, if it does not have its id yet. */
    unnamed: (role: Message['role'], text: string): Row | undefined =>
      pending.find((row) => row.role === role && (role === 'assistant' || row.text() === text)),
    lastId: (): string | null => [...rows.keys()].at(-1) ?? null,
    isEmpty: () => rows.size === 0 && pending.length === 0,
    setTyping(text: string): void {
      if (typing.textContent !== text) staying(() => typing.replaceChildren(text))
    },
    clear(): void {
      rows.clear()
      drawn.clear()
      pending.length = 0
      log.replaceChildren()
      growing.replaceChildren()
      typing.replaceChildren()
    },
  }
}
