/** The chat inside the frame (docs/api.md 15, docs/operating.md 5.2). */
import { h, pageData, setText } from '../shared/dom'
import type { Failure, ServerEvent } from '../shared/http'
import { createBotCheck } from './bot-check'
import { createBridge, type HostMessage } from './bridge'
import { createComposer } from './composer'
import { createListener } from './listen'
import { createPanel, type Panel } from './panel'
import { createSending, linksOf } from './sending'
import { createShell } from './shell'
import { createTranscript } from './transcript'
import { createVisitor, type Visitor } from './visitor'
import type { Message, PublicConfig, Status, Takeover } from './wire'
import { WORDS } from './words'

type PeopleOptions = {
  panel: Pick<Panel, 'setStatus'>
  transcript: Pick<ReturnType<typeof createTranscript>, 'add' | 'setTyping'>
  tell(takeover: Takeover): void
}

/** Typing notices repeat. After this long without one, typing has ended. */
const TYPING_MS = 5_000

type Options = {
  visitor: Pick<Visitor, 'hasRead' | 'markRead'>
  panel: Pick<Panel, 'setUnread'>
  isOpen(): boolean
}

/** Draws the chat into the page and starts it. Call once. */
export function startChat(): void {
  const config = pageData<PublicConfig>('config')
  const { behavior } = config

  const bridge = createBridge(hear)
  const botCheck = createBotCheck(config)
  const visitor = createVisitor({
    configId: config.id,
    pageUrl: bridge.pageUrl,
    botCheck: botCheck.token,
    unknown: notTaken,
  })
  const transcript = createTranscript()
  const suggestions = h('div', { class: 'suggestions', role: 'group', 'aria-label': WORDS.suggestions })
  const composer = createComposer({
    placeholder: behavior.placeholder || WORDS.placeholder,
    maxCharacters: behavior.maxPromptLength ?? 2_000,
    files: behavior.enableFileUpload === true,
    send,
    stop: () => sending.stop(),
    typing() {
      if (people.status() !== 'ai') void visitor.typing().catch(() => undefined)
    },
  })
  const rating = createRating(visitor.rate, (text) => {
    if (text) transcript.add('system', text)
    composer.field.focus()
  })
  const panel = createPanel(config, {
    open: () => shell.open(),
    close: () => shell.close(),
    menu: [
      ...(config.handoff !== false ? [{ label: WORDS.askPerson, run: () => void askPerson() }] : []),
      { label: WORDS.rate, run: () => rating.open() },
      { label: WORDS.clear, run: clear },
    ],
  })
  const again = h('button', { type: 'button', class: 'primary', hidden: true, click: clear }, WORDS.begin)
  const people = createPeople({ panel, transcript, tell: (takeover) => bridge.tell('takeover', takeover) })
  const unread = createUnread({ visitor, panel, isOpen: () => shell.isOpen() })
  const shell = createShell({
    panel,
    bridge,
    field: () => composer.field,
    opened() {
      unread.opened()
      requestAnimationFrame(() => {
        transcript.element.scrollTop = transcript.element.scrollHeight
      })
    },
  })
  const listener = createListener({
    visitor,
    take: onEvent,
    connected: () => void catchUp().catch(() => undefined),
    lost: () => panel.setStatus(navigator.onLine ? WORDS.reconnecting : WORDS.offline, 'loud'),
    refused: failed,
  })
  const sending = createSending({
    visitor,
    transcript,
    took,
    redirected: (reply, url) => transcript.link(reply.id, url),
    changed: (status) => people.change({ takeover_status: status }),
    answering: composer.answering,
    arrived: unread.arrived,
    followUps: (prompts) => suggest(prompts),
    begun: () => listener.start(),
    failed,
    catchUp,
  })
  panel.body.append(transcript.element, suggestions, botCheck.element, rating.form, again)
  panel.extra.append(composer.form)
  // Runs before the elements are in the page, so that it causes no layout.
  greet()
  if (!panel.launcher.isConnected) document.body.replaceChildren(panel.launcher)
  document.body.append(panel.panel)
  addEventListener('online', () => {
    people.draw()
    listener.hurry()
    void sending.drain()
  })
  addEventListener('offline', () => panel.setStatus(WORDS.offline, 'loud'))
  if (!navigator.onLine) panel.setStatus(WORDS.offline, 'loud')
  if (visitor.has()) listener.start()
  bridge.tell('ready', { position: config.appearance.position ?? 'bottom-right', title: panel.title })
  if (bridge.isInline) shell.begin()
  else if (panel.wasPressed()) shell.open()
  else if (shell.wasOpen()) shell.begin()
  document.documentElement.dataset.ready = 'true'
  performance.mark('ready')
  transcript.format()

  function greet(): void {
    if (behavior.welcomeMessage) transcript.add('assistant', behavior.welcomeMessage, { id: 'welcome' })
    suggest((behavior.suggestedPrompts ?? []).map((prompt) => ({ label: prompt, prompt })))
  }

  function suggest(prompts: { label: string; prompt: string }[]): void {
    suggestions.replaceChildren(
      ...prompts.map(({ label, prompt }) => h('button', { type: 'button', click: () => send(prompt, []) }, label)),
    )
  }

  function send(text: string, attachments: Parameters<typeof sending.add>[1]): void {
    suggest([])
    sending.add(text, attachments)
    composer.field.focus()
  }

  async function askPerson(): Promise<void> {
    try {
      await visitor.askPerson()
      listener.start()
      people.change({ takeover_status: 'requested' })
    } catch (error) {
      failed(error as Failure)
    }
  }

  /** Forgets the chat on this device and starts again. */
  function clear(): void {
    listener.stop()
    sending.stop()
    visitor.forget()
    transcript.clear()
    people.change({ takeover_status: 'ai' })
    panel.setStatus('')
    again.hidden = true
    composer.close(false)
    greet()
    composer.field.focus()
  }

  function took(message: Message): void {
    unread.arrived(message)
    if (transcript.has(message.id)) return
    const mine = transcript.unnamed(message.role, message.content)
    if (mine) {
      mine.identify(message.id)
      if (message.role === 'assistant') mine.write(message.content)
      mine.note('')
      return
    }
    const row = transcript.add(message.role, message.content, { id: message.id, name: people.name() })
    row.addLinks(linksOf(message.artifacts))
    if (message.role === 'user' || message.role === 'system') return
    transcript.setTyping('')
    bridge.tell('message', { role: message.role, unread: unread.count() })
  }

  async function catchUp(): Promise<void> {
    const known = people.changes()
    const { messages, takeover_status, status } = await visitor.current()
    if (people.changes() === known) people.change({ takeover_status })
    for (const message of messages) took(message)
    if (status === 'closed') close()
  }

  function onEvent({ name, data }: ServerEvent): void {
    if (name === 'message') took(data as Message)
    else if (name === 'takeover') people.change(data as Takeover)
    else if (name === 'typing') people.typing((data as { role: string }).role)
    else if (name === 'closed') close()
  }

  function close(): void {
    listener.stop()
    visitor.forget()
    panel.setStatus(WORDS.closed)
    composer.close(true)
    again.hidden = false
  }

  /** Shows an error that concerns the whole chat, in plain words. */
  function failed({ status, code, message, retryAfter }: Failure): void {
    if (code === 'offline') {
      panel.setStatus(navigator.onLine ? WORDS.reconnecting : WORDS.offline, 'loud')
      setTimeout(() => void sending.drain(), 2_000)
    } else if (status === 401) {
      listener.stop()
      visitor.forget()
      panel.setStatus('')
      transcript.add('system', WORDS.expired)
    } else if (code === 'bot_check_failed') panel.setStatus(WORDS.botCheckFailed, 'loud')
    else if (status === 429) countDown(retryAfter ?? 10)
    else if (status === 400 || status === 413) composer.refuse(message)
    else {
      panel.setStatus(WORDS.unavailable, 'loud')
      bridge.tell('error', { code })
    }
  }

  /** The server rejected the visitor's identity. A chat of another person ends here, and the page gets the reason. */
  function notTaken({ status, code, message }: Failure): void {
    if (status === 409) clear()
    bridge.tell('error', { code, message })
  }

  function countDown(seconds: number): void {
    if (seconds <= 0) {
      people.draw()
      return
    }
    panel.setStatus(WORDS.limited(seconds), 'loud')
    setTimeout(() => countDown(seconds - 1), 1_000)
  }

  function hear({ type, text, modal, who, context }: HostMessage): void {
    if (type === 'open') shell.open()
    else if (type === 'close') shell.close()
    else if (type === 'layout') shell.setModal(modal === true)
    else if (type === 'identify') visitor.identify(pick(who))
    else if (type === 'context') visitor.identify({ context })
    else if (type === 'send' && typeof text === 'string' && text.trim()) {
      shell.open()
      send(text.trim(), [])
    }
  }

  /** Picks only the members of an identity from what a page sends. */
  function pick(who: unknown): Record<string, unknown> {
    const identity = typeof who === 'object' && who !== null ? (who as Record<string, unknown>) : {}
    const names = ['name', 'email', 'external_id', 'hash'].filter((name) => identity[name] !== undefined)
    return Object.fromEntries(names.map((name) => [name, identity[name]]))
  }
}

/** Counts messages that arrive while the chat is closed. Those shown open are read, on later pages too. */
function createUnread({ visitor, panel, isOpen }: Options) {
  const ids = new Set<string>()
  /** Time of the newest message. */
  let newest = ''
  return {
    count: () => ids.size,
    opened(): void {
      ids.clear()
      visitor.markRead(newest)
    },
    arrived({ id, role, created_at }: Message): void {
      if (created_at > newest) newest = created_at
      if (isOpen()) visitor.markRead(newest)
      else if ((role === 'assistant' || role === 'operator') && !visitor.hasRead(created_at)) {
        ids.add(id)
        panel.setUnread(ids.size)
      }
    },
  }
}

/** The form in which a visitor rates the chat, from 1 to 5. */
function createRating(save: (rating: number, comment: string) => Promise<void>, done: (text: string) => void) {
  const problem = h('p', { class: 'problem', role: 'alert' })
  const comment = h('textarea', { id: 'comment', rows: 2 })
  const choices = [1, 2, 3, 4, 5].map((stars) =>
    h(
      'label',
      {},
      h('input', { type: 'radio', name: 'rating', value: stars, required: true }),
      h('span', { 'aria-hidden': 'true' }, String(stars)),
      h('span', { class: 'hidden' }, `${stars}, ${WORDS.stars(stars)}`),
    ),
  )
  const form = h(
    'form',
    { class: 'rating', hidden: true },
    h('fieldset', {}, h('legend', {}, WORDS.rating), h('div', { class: 'stars' }, ...choices)),
    h('label', { for: 'comment' }, WORDS.comment),
    comment,
    problem,
    h(
      'p',
      { class: 'buttons' },
      h('button', { type: 'submit', class: 'primary' }, WORDS.save),
      h('button', { type: 'button', click: () => close('') }, WORDS.cancel),
    ),
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const rating = Number(new FormData(form).get('rating'))
    save(rating, comment.value.trim()).then(
      () => close(WORDS.rated),
      (error: Error) => setText(problem, error.message),
    )
  })

  function close(text: string): void {
    form.hidden = true
    form.reset()
    setText(problem, '')
    done(text)
  }

  return {
    form,
    open(): void {
      form.hidden = false
      form.querySelector('input')?.focus()
    },
  }
}

/** Shows who answers: the assistant, or a person and their name (docs/api.md 15). */
function createPeople({ panel, transcript, tell }: PeopleOptions) {
  let status: Status = 'ai'
  let changes = 0
  /** Minutes. Null if unknown. */
  let wait: number | null = null
  let name: string = WORDS.somebody
  let typingEnds: ReturnType<typeof setTimeout> | undefined

  function draw(): void {
    panel.setStatus(status === 'requested' ? WORDS.asked(wait) : status === 'human' ? WORDS.joined(name) : '')
  }

  return {
    draw,
    name: () => name,
    status: () => status,
    /** Grows with each change. Data requested before the last change may be older than it. */
    changes: () => changes,
    change(takeover: Takeover): void {
      changes += 1
      const before = status
      status = takeover.takeover_status
      if (takeover.usual_wait_s !== undefined) wait = Math.max(1, Math.round(takeover.usual_wait_s / 60))
      if (takeover.operator?.name) name = takeover.operator.name
      if (before === status) {
        draw()
        return
      }
      if (before === 'human') transcript.add('system', WORDS.left(name))
      transcript.setTyping('')
      draw()
      tell({ takeover_status: status })
    },
    typing(role: string): void {
      clearTimeout(typingEnds)
      transcript.setTyping(role === 'operator' ? WORDS.personWrites(name) : WORDS.writing)
      typingEnds = setTimeout(() => transcript.setTyping(''), TYPING_MS)
    },
  }
}
