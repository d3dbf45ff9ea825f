import { createParser } from 'eventsource-parser'
import { h, setText } from '../shared/dom'

/** These come many at a time, and are one line of the list. */
const MANY = ['token', 'message']

export type Answer = ReturnType<typeof answerView>

/** As much of an answer or a stream as is shown. */
const MAX_CHARS = 20_000

type Notice = {
  content?: unknown
  token?: unknown
  choices?: { message?: { content?: unknown }; delta?: { content?: unknown } }[]
  usage?: { cost_cents?: number }
  error?: { code?: string; message?: string }
}

/** What an answer says to a person; null where it is data. */
function textIn({ content, choices, error }: Notice): string | null {
  const message = content ?? choices?.[0]?.message?.content ?? error?.message
  return typeof message === 'string' && message ? message : null
}

/** What came of a call: a line that is spoken, the headers that matter, the body or its events. */
export function answerView() {
  const line = h('p', { role: 'status' })
  const facts = h('p', { class: 'facts' })
  const message = h('div', { class: 'said', tabindex: '0', role: 'region', 'aria-label': 'What it says', hidden: true })
  const text = h('pre', { tabindex: '0', 'aria-label': 'Answer' })
  const events = eventList()
  const whole = h('details', {}, h('summary', {}, 'Raw answer'), text, events.element)
  const element = h('div', { class: 'answer', hidden: true }, line, facts, message, whole)

  function begin(): void {
    element.hidden = false
    text.hidden = true
    whole.hidden = true
    whole.open = false
    read('')
    facts.replaceChildren()
    text.textContent = ''
    events.clear()
    setText(line, 'Sending…')
  }

  /** Shows what a person reads; data is open beside it. */
  function read(words: string): void {
    message.hidden = words === ''
    message.textContent = words.slice(0, MAX_CHARS)
  }

  function say(words: string): void {
    element.hidden = false
    setText(line, words)
  }

  async function show(answer: Response, passed: () => number): Promise<void> {
    const { status, headers } = answer
    const type = headers.get('content-type') ?? ''
    const state = (what: string) => say(`${status} ${what}, ${Math.round(passed())} ms`)
    facts.textContent = factsOf(headers)
    if (type.startsWith('text/event-stream')) {
      state('streaming')
      let last: Notice | null = null
      let written = ''
      whole.hidden = false
      await readEvents(answer, (event, data) => {
        const notice = parsed(data)
        if (notice) {
          last = notice
          // The text that one event of a stream adds.
          written = textIn(notice) ?? written + String(notice.token ?? notice.choices?.[0]?.delta?.content ?? '')
          read(written)
        }
        events.add(event, data)
      })
      state(`done${costOf(last)}`)
      return
    }
    const isText = /json|^text\//.test(type)
    if (!isText) {
      const { size } = await answer.blob()
      return state(`${type}, ${size} bytes`)
    }
    const given = await answer.text()
    const notified = parsed(given)
    const words = notified && textIn(notified)
    read(words ?? '')
    whole.hidden = false
    whole.open = !words
    text.hidden = false
    text.textContent = (notified ? JSON.stringify(notified, null, 2) : given).slice(0, MAX_CHARS)
    state(answer.ok ? `done${costOf(notified)}` : 'refused')
    const code = notified?.error?.code
    if (code) facts.append(' ', h('a', { href: `/docs/errors/${encodeURIComponent(code)}` }, `What ${code} means`))
  }

  return { element, begin, say, show }
}

const costOf = (notice: Notice | null): string => {
  const cents = notice?.usage?.cost_cents
  return cents === undefined ? '' : `, ${cents} ¢`
}

function factsOf(headers: Headers): string {
  const left = headers.get('x-ratelimit-remaining-requests')
  const max = headers.get('x-ratelimit-limit-requests')
  const facts = [
    `Request ${headers.get('x-request-id') ?? 'without an id'}`,
    left !== null && max !== null && `${left} of ${max} requests left in this minute`,
    headers.get('retry-after') !== null && `again in ${headers.get('retry-after')} s`,
    headers.get('x-cache') && `cache ${headers.get('x-cache')}`,
  ]
  return facts.filter(Boolean).join(' · ')
}

function parsed(text: string): Notice | null {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

/** The events of a stream as they come: each with its name and data, tokens as the text that they make. */
function eventList() {
  const element = h('ol', { class: 'events', tabindex: '0', 'aria-label': 'Events', hidden: true })
  let name = ''
  let count: HTMLElement | null = null
  let text: Text | null = null
  let times = 0
  let left = MAX_CHARS

  function add(event: string, data: string): void {
    const shown = (event === 'token' ? tokenOf(data) : data).slice(0, left)
    left -= shown.length
    element.hidden = false
    if (event === name && MANY.includes(name)) {
      count!.textContent = ` × ${++times} `
      text!.data += shown
      return
    }
    name = event
    times = 1
    count = h('span', { class: 'facts' }, ' ')
    text = document.createTextNode(shown)
    element.append(h('li', {}, h('code', {}, event), count, text))
  }

  function clear(): void {
    element.replaceChildren()
    element.hidden = true
    name = ''
    left = MAX_CHARS
  }

  return { element, add, clear }
}

function tokenOf(data: string): string {
  try {
    return String(JSON.parse(data).token ?? data)
  } catch {
    return data
  }
}

/** Gives each event of a streamed answer as it comes. */
async function readEvents(answer: Response, onEvent: (event: string, data: string) => void): Promise<void> {
  const parser = createParser({ onEvent: ({ event = 'message', data }) => onEvent(event, data) })
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    parser.feed(value)
  }
}
