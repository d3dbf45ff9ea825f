import { h, setText } from '../shared/dom'
import { whileTyping } from '../shared/typing'
import { keep, recall } from './kept'
import { WORDS } from './words'

const MAX_SAVED = 50

type Actions = {
  send(text: string): Promise<void>
  typing(): void
  /** What the assistant would say. */
  draft(): Promise<string>
  handover(to: string): void
  /** Colleagues who could have the chat. */
  people: readonly { id: string; name: string }[]
}

/** The form to reply with, its draft and the saved replies. */
export function createReply({ send, typing, draft, handover, people }: Actions) {
  const problem = h('p', { class: 'problem', role: 'alert', id: 'reply-problem' })
  const field = h('textarea', { id: 'reply', rows: 3, 'aria-describedby': 'reply-problem' })
  const select = h('select', { id: 'canned' })
  const submit = h('button', { type: 'submit', class: 'primary' }, WORDS.send)
  const save = h('button', { type: 'button', class: 'link', click: saveReply }, WORDS.cannedSave)
  const remove = h('button', { type: 'button', class: 'link', click: removeReply }, WORDS.cannedRemove)
  const drafting = h('button', { type: 'button', class: 'link', click: () => void askDraft() }, WORDS.draft)
  const news = h('p', { class: 'hidden', role: 'status' })
  const to = h('select', { id: 'handover' }, ...people.map(({ id, name }) => h('option', { value: id }, name)))
  const handing = h(
    'p',
    { class: 'line', hidden: people.length === 0 },
    h('label', { for: 'handover' }, WORDS.handover),
    to,
    h('button', { type: 'button', click: () => handover(to.value) }, WORDS.handoverGo),
  )
  const form = h(
    'form',
    { class: 'reply', 'aria-label': WORDS.reply, hidden: true },
    problem,
    h('label', { for: 'reply' }, WORDS.reply),
    field,
    h('div', { class: 'line' }, submit, h('label', { for: 'canned', class: 'hidden' }, WORDS.canned), select),
    h('p', { class: 'links' }, drafting, save, remove),
    handing,
    news,
  )
  let saved = recall<string[]>('canned', [])
  let chat: string | null = null
  drawSaved()

  field.addEventListener('input', () => {
    if (chat) keep(`draft:${chat}`, field.value)
  })
  whileTyping(field, typing)
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

  /** Puts a draft below what is written already; whoever answers sends it or not. */
  async function askDraft(): Promise<void> {
    const question = chat
    drafting.disabled = true
    setText(problem, '')
    setText(news, WORDS.drafting)
    try {
      const text = await draft()
      if (chat !== question) return
      field.value = field.value ? `${field.value}\n${text}` : text
      field.dispatchEvent(new Event('input'))
      field.focus()
      setText(news, WORDS.drafted)
    } catch (error) {
      setText(news, '')
      setText(problem, (error as Error).message)
    } finally {
      drafting.disabled = false
    }
  }

  function drawSaved(): void {
    select.replaceChildren(
      h('option', { value: '' }, WORDS.cannedChoose),
      ...saved.map((text, at) => h('option', { value: at }, text.slice(0, 60))),
    )
  }

  function saveReply(): void {
    const text = field.value.trim()
    if (!text || saved.includes(text)) return
    saved = [text, ...saved].slice(0, MAX_SAVED)
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
