import { h, setText } from '../shared/dom'
import { timeOf } from './queue'
import type { Transcript } from './wire'
import { WORDS } from './words'

/** What people write about the open chat for each other, and the form to write more. */
export function createNotes(save: (text: string) => Promise<unknown>) {
  const list = h('ul', { class: 'notes' })
  const problem = h('p', { class: 'problem', role: 'alert' })
  const field = h('textarea', { id: 'note', rows: 2 })
  const form = h(
    'form',
    { class: 'note' },
    problem,
    h('label', { for: 'note' }, WORDS.noteField),
    field,
    h('button', { type: 'submit' }, WORDS.noteSave),
  )
  const element = h('div', {}, h('h2', {}, WORDS.notes), list, form)
  let shown = ''

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const text = field.value.trim()
    if (!text) return
    save(text).then(
      () => {
        field.value = ''
        setText(problem, '')
      },
      (error: Error) => setText(problem, error.message),
    )
  })

  return {
    element,
    show({ session_id, notes }: Transcript): void {
      if (shown !== session_id) {
        field.value = ''
        setText(problem, '')
      }
      shown = session_id
      list.replaceChildren(
        ...notes.map(({ author, content, created_at }) =>
          h('li', {}, h('p', { class: 'faint' }, `${author.name}, ${timeOf(created_at)}`), h('p', {}, content)),
        ),
      )
    },
  }
}
