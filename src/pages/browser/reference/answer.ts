import { h, setText } from '../shared/dom'
import { eventList, readEvents } from './events'

export type Answer = ReturnType<typeof answerView>

/** As much of an answer as is shown. */
const MOST_CHARS = 20_000

type Told = {
  content?: unknown
  token?: unknown
  choices?: { message?: { content?: unknown }; delta?: { content?: unknown } }[]
  usage?: { cost_cents?: number }
  error?: { code?: string; message?: string }
}

/** What an answer says to a person; null where it is data. */
function textIn({ content, choices, error }: Told): string | null {
  const said = content ?? choices?.[0]?.message?.content ?? error?.message
  return typeof said === 'string' && said ? said : null
}

/** What came of a call: a line that is spoken, the headers that matter, the body or its events. */
export function answerView() {
  const line = h('p', { role: 'status' })
  const facts = h('p', { class: 'facts' })
  const said = h('div', { class: 'said', tabindex: '0', role: 'region', 'aria-label': 'What it says', hidden: true })
  const text = h('pre', { tabindex: '0', 'aria-label': 'Answer' })
  const events = eventList()
  const whole = h('details', {}, h('summary', {}, 'Raw answer'), text, events.element)
  const element = h('div', { class: 'answer', hidden: true }, line, facts, said, whole)

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
    said.hidden = words === ''
    said.textContent = words.slice(0, MOST_CHARS)
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
      let written = ''
      whole.hidden = false
      await readEvents(answer, (event, data) => {
        const told = parsed(data)
        if (told) {
          last = told
          // The text that one event of a stream adds.
          written = textIn(told) ?? written + String(told.token ?? told.choices?.[0]?.delta?.content ?? '')
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
    const told = parsed(given)
    const words = told && textIn(told)
    read(words ?? '')
    whole.hidden = false
    whole.open = !words
    text.hidden = false
    text.textContent = (told ? JSON.stringify(told, null, 2) : given).slice(0, MOST_CHARS)
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

function parsed(text: string): Told | null {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}
