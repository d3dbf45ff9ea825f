import { h, setText } from '../shared/dom'
import { keep, recall } from './kept'
import { WORDS } from './words'

const MOST_CHARACTERS = 4_000
const MOST_SAVED = 50
/** The visitor is told at most this often that somebody writes. */
const TYPING_MS = 3_000

/** The form to reply with, its draft and the saved replies. */
export function createReply(send: (text: string) => Promise<void>, typing: () => void) {
  const problem = h('p', { class: 'problem', role: 'alert', id: 'reply-problem' })
  const field = h('textarea', { id: 'reply', rows: 3, maxlength: MOST_CHARACTERS, 'aria-describedby': 'reply-problem' })
  const select = h('select', { id: 'canned' })
  const submit = h('button', { type: 'submit', class: 'primary' }, WORDS.send)
  const save = h('button', { type: 'button', class: 'link', click: saveReply }, WORDS.cannedSave)
  const remove = h('button', { type: 'button', class: 'link', click: removeReply }, WORDS.cannedRemove)
  const form = h(
    'form',
    { class: 'reply', 'aria-label': WORDS.reply, hidden: true },
    problem,
    h('label', { for: 'reply' }, WORDS.reply),
    field,
    h('div', { class: 'line' }, submit, h('label', { for: 'canned', class: 'hidden' }, WORDS.canned), select),
    h('p', { class: 'links' }, save, remove),
  )
  let saved = recall<string[]>('canned', [])
  let chat: string | null = null
  let toldAt = -TYPING_MS
  drawSaved()

  field.addEventListener('input', () => {
    if (chat) keep(`draft:${chat}`, field.value)
    if (field.value && performance.now() - toldAt > TYPING_MS) {
      toldAt = performance.now()
      typing()
    }
  })
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    form.requestSubmit()
  })
  select.addEventListener('change', () => {
    const text = saved[Number(select.value)]
    if (text === undefined) return
    field.value = field.value ? `${field.value} ${text}` : text
    field.dispatchEvent(new Event('input'))
    field.focus()
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const text = field.value.trim()
    if (!text || submit.disabled) return
    submit.disabled = true
    send(text)
      .then(
        () => {
          field.value = ''
          if (chat) keep(`draft:${chat}`, null)
          setText(problem, '')
        },
        (error: Error) => setText(problem, error.message),
      )
      .finally(() => {
        submit.disabled = false
        field.focus()
      })
  })

  function drawSaved(): void {
    select.replaceChildren(
      h('option', { value: '' }, WORDS.cannedChoose),
      ...saved.map((text, at) => h('option', { value: at }, text.slice(0, 60))),
    )
  }

  function saveReply(): void {
    const text = field.value.trim()
    if (!text || saved.includes(text)) return
    saved = [text, ...saved].slice(0, MOST_SAVED)
    keep('canned', saved)
    drawSaved()
  }

  function removeReply(): void {
    if (select.value === '') return
    saved = saved.filter((_, at) => at !== Number(select.value))
    keep('canned', saved)
    drawSaved()
  }

  return {
    form,
    refuse: (text: string) => setText(problem, text),
    /** The conversation that a reply would go to, with its draft; null when nothing may be said. */
    allow(session: string | null): void {
      form.hidden = session === null
      if (session === chat) return
      chat = session
      setText(problem, '')
      field.value = session ? recall(`draft:${session}`, '') : ''
    },
  }
}
