import { type Json, samplesOf } from '../../../kernel/samples'
import { h } from '../shared/dom'
import { type Answer, answerView } from './answer'
import { skillSwitches } from './skills'

/** One call that the page describes, as the server wrote it into the page. */
export type Call = {
  id: string
  method: string
  /** Below `/api/v1`, with sample ids. */
  path: string
  body?: unknown
  keyed: boolean
  streams: boolean
  /** The body is a form with a file. */
  uploads: boolean
  /** The modes that the body may name. */
  modes: readonly string[]
  /** The body may name skills of the caller. */
  skills: boolean
  /** The form is there from the start. */
  opened?: true
}

/** The key, for all panels of the page: it is here and in the fields, and nowhere else. */
let key = ''
let number = 0

/** Puts "Try it" under the samples of a call; the form is made when somebody wants it. */
export function tryIt(section: HTMLElement, title: string, call: Call): void {
  const place = section.querySelector('.row') ?? section.querySelector('pre')
  const code = [...section.querySelectorAll('[role=tabpanel]')]
  if (call.opened) {
    place?.before(form(call, title, code))
    return
  }
  let panel: HTMLElement | null = null
  const button = h('button', { type: 'button', class: 'try', 'aria-expanded': 'false' }, 'Try it')
  button.setAttribute('aria-label', `Try it: ${title}`)
  button.addEventListener('click', () => {
    if (!panel) {
      panel = form(call, title, code)
      button.after(panel)
    } else panel.hidden = !panel.hidden
    button.setAttribute('aria-expanded', String(!panel.hidden))
    if (!panel.hidden) panel.querySelector<HTMLElement>('input, textarea, button')?.focus()
  })
  place?.before(button)
}

function field(label: string, control: HTMLElement): HTMLElement {
  const id = `try-${++number}`
  control.id = id
  return h('div', { class: 'field' }, h('label', { for: id }, label), control)
}

/** `code` are the samples that the form keeps as its call is. */
function form(call: Call, title: string, code: readonly Element[]): HTMLElement {
  const keyField = h('input', { type: 'password', autocomplete: 'off', spellcheck: 'false', class: 'key' })
  keyField.value = key
  keyField.addEventListener('input', () => {
    key = keyField.value.trim()
    for (const other of document.querySelectorAll<HTMLInputElement>('input.key'))
      if (other !== keyField) other.value = key
  })
  const path = h('input', { type: 'text', spellcheck: 'false', autocomplete: 'off' })
  path.value = call.path
  const body = h('textarea', { rows: '6', spellcheck: 'false' })
  body.value = call.body === undefined ? '' : JSON.stringify(call.body, null, 2)
  const file = h('input', { type: 'file' })
  const stream = h('input', { type: 'checkbox' })
  const hasBody = call.body !== undefined && !call.uploads
  // Where the form can change how the call is answered, so that the code is what is sent.
  const showCode = () => {
    const written = call.streams ? parsed(body.value) : null
    if (written) asCode(code, call, path.value, written)
  }
  const change = (name: string, value: unknown) => {
    const written = parsed(body.value)
    if (written) body.value = JSON.stringify({ ...written, [name]: value }, null, 2)
    showCode()
  }
  const prompt = call.opened && h('textarea', { rows: '3', class: 'prompt' })
  if (prompt) {
    prompt.value = String(parsed(body.value)?.prompt ?? '')
    prompt.addEventListener('input', () => change('prompt', prompt.value))
  }
  const skills = call.skills ? skillSwitches((slugs) => change('skills', slugs.length ? slugs : undefined)) : null
  keyField.addEventListener('change', () => void skills?.ask(key))
  void skills?.ask(key)
  const mode = h(
    'select',
    { change: () => change('mode', mode.value) },
    ...call.modes.map((one) => h('option', {}, one)),
  )
  stream.addEventListener('change', () => change('stream', stream.checked || undefined))
  path.addEventListener('input', showCode)
  body.addEventListener('input', () => {
    const written = parsed(body.value)
    if (prompt) prompt.value = String(written?.prompt ?? '')
    mode.value = String(written?.mode ?? 'auto')
    stream.checked = written?.stream === true
    showCode()
  })
  const view = answerView()
  const send = h('button', { type: 'submit' }, 'Send')
  const stop = h('button', { type: 'button', hidden: true }, 'Stop')

  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (call.keyed && !key) {
      view.say('Paste a key, or create one: svc-admin keys create --name NAME')
      keyField.focus()
      return
    }
    const written = hasBody ? parsed(body.value) : null
    if (hasBody && !written) {
      view.say('The body is not a JSON object. Nothing was sent.')
      body.focus()
      return
    }
    const gaveUp = new AbortController()
    stop.onclick = () => gaveUp.abort()
    stop.hidden = false
    send.disabled = true
    await ask(call, path.value, sent(written, call.uploads ? (file.files?.[0] ?? null) : null), gaveUp.signal, view)
    stop.hidden = true
    send.disabled = false
  }
  return h(
    'form',
    { class: 'panel', 'aria-label': `Try it: ${title}`, submit },
    call.keyed && field('Key (stays in this page)', keyField),
    field(`${call.method} /api/v1`, path),
    prompt && field('Prompt', prompt),
    call.modes.length > 0 && field('Mode', mode),
    hasBody && call.streams && field('Stream the answer', stream),
    skills?.element,
    hasBody && field('Body', body),
    call.uploads && field('File', file),
    h('div', { class: 'row' }, send, stop),
    view.element,
  )
}

/** Writes the call as it would be sent into the samples beside the form, which are in this order. */
function asCode(code: readonly Element[], call: Call, path: string, written: Record<string, unknown> | null): void {
  const { curl, typescript, python } = samplesOf({
    ...{ method: call.method, keyed: call.keyed, uploads: false, download: null },
    url: `${location.origin}/api/v1/${path.replace(/^\/+/, '')}`,
    streams: written?.stream === true,
    body: (written ?? undefined) as Json | undefined,
  })
  for (const [at, text] of [curl, typescript, python].entries())
    (code[at]?.querySelector('code') ?? code[at])!.textContent = text
}

type Sent = { headers: Record<string, string>; body?: string | FormData }

function sent(written: object | null, file: File | null): Sent {
  if (written) return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(written) }
  if (!file) return { headers: {} }
  const body = new FormData()
  body.append('file', file)
  return { headers: {}, body }
}

async function ask(
  call: Call,
  path: string,
  { headers, body }: Sent,
  signal: AbortSignal,
  view: Answer,
): Promise<void> {
  const began = performance.now()
  view.begin()
  try {
    const answer = await window.fetch(`/api/v1/${path.replace(/^\/+/, '')}`, {
      method: call.method,
      headers: { ...headers, ...(call.keyed ? { authorization: `Bearer ${key}` } : {}) },
      cache: 'no-store',
      credentials: 'omit',
      signal,
      ...(body === undefined ? {} : { body }),
    })
    await view.show(answer, () => performance.now() - began)
  } catch {
    view.say(signal.aborted ? 'Stopped.' : 'No answer: the server cannot be reached.')
  }
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
