import { h, setText } from '../shared/dom'
import { eventList, readEvents } from './events'

export type Answer = ReturnType<typeof answerView>

/** As much of an answer as is shown. */
const MOST_CHARS = 20_000

type Told = { usage?: { cost_cents?: number }; error?: { code?: string } }

/** What came of a call: a line that is spoken, the headers that matter, the body or its events. */
export function answerView() {
  const line = h('p', { role: 'status' })
  const facts = h('p', { class: 'facts' })
  const text = h('pre', { tabindex: '0', 'aria-label': 'Answer' })
  const events = eventList()
  const element = h('div', { class: 'answer', hidden: true }, line, facts, text, events.element)

  function begin(): void {
    element.hidden = false
    text.hidden = true
    facts.replaceChildren()
    text.textContent = ''
    events.clear()
    setText(line, 'Sending…')
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
      let last: Told | null = null
      await readEvents(answer, (event, data) => {
        last = read(data) ?? last
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
    const whole = await answer.text()
    const told = read(whole)
    text.hidden = false
    text.textContent = (told ? JSON.stringify(told, null, 2) : whole).slice(0, MOST_CHARS)
    state(answer.ok ? `done${costOf(told)}` : 'refused')
    const code = told?.error?.code
    if (code) facts.append(' ', h('a', { href: `/docs/errors/${encodeURIComponent(code)}` }, `What ${code} means`))
  }

  return { element, begin, say, show }
}

const costOf = (told: Told | null): string => {
  const cents = told?.usage?.cost_cents
  return cents === undefined ? '' : `, ${cents} ¢`
}

function factsOf(headers: Headers): string {
  const left = headers.get('x-ratelimit-remaining-requests')
  const most = headers.get('x-ratelimit-limit-requests')
  const facts = [
    `Request ${headers.get('x-request-id') ?? 'without an id'}`,
    left !== null && most !== null && `${left} of ${most} requests left in this minute`,
    headers.get('retry-after') !== null && `again in ${headers.get('retry-after')} s`,
    headers.get('x-cache') && `cache ${headers.get('x-cache')}`,
  ]
  return facts.filter(Boolean).join(' · ')
}

function read(text: string): Told | null {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}
