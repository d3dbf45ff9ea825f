import { h, setText } from '../shared/dom'
import { WORDS } from './words'

/** The form by which a visitor says how the chat was, from 1 to 5. */
export function createRating(save: (rating: number, comment: string) => Promise<void>, done: (text: string) => void) {
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
