import { createParser } from 'eventsource-parser'
import { h } from '../shared/dom'

/** As much of a stream as is shown. */
const MAX_CHARS = 20_000
/** These come many at a time, and are one line of the list. */
const MANY = ['token', 'message']

/** The events of a stream as they come: each with its name and data, tokens as the text that they make. */
export function eventList() {
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
export async function readEvents(answer: Response, onEvent: (event: string, data: string) => void): Promise<void> {
  const parser = createParser({ onEvent: ({ event = 'message', data }) => onEvent(event, data) })
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    parser.feed(value)
  }
}
