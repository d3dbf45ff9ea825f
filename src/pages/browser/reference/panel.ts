import { type Json, samplesOf } from '../../reference/samples'
import type { Tried } from '../../reference/service'
import { h, setText } from '../shared/dom'
import { type Answer, answerView } from './answer'

type Found = { skills?: { slug: string; name: string }[]; error?: { message?: string } }

let number = 0

function field(label: string, control: HTMLElement): HTMLElement {
  const id = `try-${++number}`
  control.id = id
  return h('div', { class: 'field' }, h('label', { for: id }, label), control)
}

/** The form of the playground. `code` are the samples below it, which it keeps as its call is. */
export function playground(call: Tried, code: readonly Element[]): HTMLElement {
  const keyField = h('input', { type: 'password', autocomplete: 'off', spellcheck: 'false', class: 'key' })
  const path = h('input', { type: 'text', spellcheck: 'false', autocomplete: 'off' })
  path.value = call.path
  const body = h('textarea', { rows: '6', spellcheck: 'false' })
  body.value = JSON.stringify(call.body, null, 2)
  const stream = h('input', { type: 'checkbox' })
  /** Writes the call as it would be sent into the samples, which are in this order. */
  const showCode = () => {
    const written = parsed(body.value)
    if (!written) return
    const { curl, typescript, python } = samplesOf({
      ...{ method: 'POST', keyed: true, uploads: false, download: null },
      url: `${location.origin}/api/v1/${path.value.replace(/^\/+/, '')}`,
      streams: written.stream === true,
      body: written as Json,
    })
    for (const [at, text] of [curl, typescript, python].entries())
      (code[at]?.querySelector('code') ?? code[at])!.textContent = text
  }
  const change = (name: string, value: unknown) => {
    const written = parsed(body.value)
    if (written) body.value = JSON.stringify({ ...written, [name]: value }, null, 2)
    showCode()
  }
  const prompt = h('textarea', { rows: '3', class: 'prompt' })
  prompt.value = String(call.body.prompt)
  prompt.addEventListener('input', () => change('prompt', prompt.value))
  const skills = skillSwitches((slugs) => change('skills', slugs.length ? slugs : undefined))
  keyField.addEventListener('change', () => void skills.ask(keyField.value.trim()))
  const mode = h(
    'select',
    { change: () => change('mode', mode.value) },
    ...call.modes.map((one) => h('option', {}, one)),
  )
  stream.addEventListener('change', () => change('stream', stream.checked || undefined))
  path.addEventListener('input', showCode)
  body.addEventListener('input', () => {
    const written = parsed(body.value)
    prompt.value = String(written?.prompt ?? '')
    mode.value = String(written?.mode ?? 'auto')
    stream.checked = written?.stream === true
    showCode()
  })
  const view = answerView()
  const send = h('button', { type: 'submit' }, 'Send')
  const stop = h('button', { type: 'button', hidden: true }, 'Stop')

  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const key = keyField.value.trim()
    if (!key) {
      view.say('Paste a key, or create one: svc-admin keys create --name NAME')
      keyField.focus()
      return
    }
    const written = parsed(body.value)
    if (!written) {
      view.say('The body is not a JSON object. Nothing was sent.')
      body.focus()
      return
    }
    const gaveUp = new AbortController()
    stop.onclick = () => gaveUp.abort()
    stop.hidden = false
    send.disabled = true
    await ask(path.value, key, JSON.stringify(written), gaveUp.signal, view)
    stop.hidden = true
    send.disabled = false
  }
  return h(
    'form',
    { class: 'panel', 'aria-label': 'Try a prompt', submit },
    field('Key (stays in this page)', keyField),
    field('POST /api/v1', path),
    field('Prompt', prompt),
    field('Mode', mode),
    field('Stream the answer', stream),
    skills.element,
    field('Body', body),
    h('div', { class: 'row' }, send, stop),
    view.element,
  )
}

async function ask(path: string, key: string, body: string, signal: AbortSignal, view: Answer): Promise<void> {
  const began = performance.now()
  view.begin()
  try {
    const answer = await window.fetch(`/api/v1/${path.replace(/^\/+/, '')}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      cache: 'no-store',
      credentials: 'omit',
      signal,
      body,
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

/** Switches for the skills that a key may use; `changed` gets the slugs of those that are on. */
function skillSwitches(changed: (slugs: string[]) => void) {
  const note = h('span', { class: 'facts', role: 'status' }, 'Enter a key to see the installed skills.')
  const element = h('fieldset', { class: 'switches' }, h('legend', {}, 'Skills'), note)
  let question = ''

  /** Asks once for each key; only the newest answer is shown. */
  async function ask(key: string): Promise<void> {
    if (!key || key === question) return
    question = key
    for (const one of element.querySelectorAll('label')) one.remove()
    changed([])
    setText(note, 'Looking…')
    const { skills = [], error } = await installed(key)
    if (key !== question) return
    setText(
      note,
      error ? (error.message ?? 'The skills cannot be listed.') : skills.length ? '' : 'No skill is installed.',
    )
    element.append(
      ...skills.map(({ slug, name }) => h('label', {}, h('input', { type: 'checkbox', value: slug }), name)),
    )
  }
  element.addEventListener('change', () =>
    changed([...element.querySelectorAll<HTMLInputElement>('input:checked')].map(({ value }) => value)),
  )
  return { element, ask }
}

async function installed(key: string): Promise<Found> {
  try {
    const answer = await window.fetch('/api/v1/skills?filter=installed&limit=50', {
      headers: { authorization: `Bearer ${key}` },
      cache: 'no-store',
      credentials: 'omit',
    })
    return (await answer.json()) as Found
  } catch {
    return { error: { message: 'The server cannot be reached.' } }
  }
}
