import { hasAtMost } from '../../../kernel/text'
import { h, ICONS, icon, setText, whileTyping } from '../shared/dom'
import type { Attachment } from './wire'
import { WORDS } from './words'

/** Maximum size of attachments in one message as the server accepts it, encoded as text. */
const MAX_BYTES = 2.5 * 1024 * 1024

const TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']

type Options = {
  placeholder: string
  maxCharacters: number
  files: boolean
  send(text: string, attachments: Attachment[]): void
  stop(): void
  typing(): void
}

/** The field, its buttons and its error text. */
export function createComposer({ placeholder, maxCharacters, files: mayAttach, send, stop, typing }: Options) {
  const problem = h('p', { id: 'problem', class: 'problem', role: 'alert' })
  const field = h('textarea', {
    id: 'field',
    rows: 1,
    placeholder,
    'aria-label': WORDS.field,
    'aria-describedby': 'problem keys',
    enterkeyhint: 'send',
  })
  const files = createFiles(refuse)
  const sendButton = h('button', { type: 'submit', class: 'primary', 'aria-label': WORDS.send }, icon(ICONS.send))
  const stopButton = h(
    'button',
    { type: 'button', 'aria-label': WORDS.stop, hidden: true, click: stop },
    icon(ICONS.stop),
  )
  const form = h(
    'form',
    { class: 'composer', 'aria-label': WORDS.field },
    problem,
    files.list,
    h('div', { class: 'line' }, mayAttach && files.input, mayAttach && files.button, field, stopButton, sendButton),
    h('p', { id: 'keys', class: 'keys' }, WORDS.keys),
  )

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const text = field.value.trim()
    if (!hasAtMost(text, maxCharacters)) return refuse(WORDS.tooLong(maxCharacters))
    if (!text) return
    refuse('')
    field.value = ''
    grow()
    send(text, files.take())
  })
  field.addEventListener('keydown', (event) => {
    // An input method uses Enter itself while it composes a word.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    form.requestSubmit()
  })
  field.addEventListener('input', () => {
    grow()
    refuse(hasAtMost(field.value.trim(), maxCharacters) ? '' : WORDS.tooLong(maxCharacters))
  })

  whileTyping(field, typing)

  function refuse(text: string): void {
    setText(problem, text)
    if (text) field.setAttribute('aria-invalid', 'true')
    else field.removeAttribute('aria-invalid')
  }

  /** Makes the field as high as its text, up to a third of the chat. */
  function grow(): void {
    field.style.height = 'auto'
    field.style.height = `${Math.min(field.scrollHeight + 2, innerHeight / 3)}px`
  }

  return {
    form,
    field,
    refuse,
    /** Shows the stop button while an answer is arriving. */
    answering(isComing: boolean): void {
      if (!isComing && document.activeElement === stopButton) field.focus()
      stopButton.hidden = !isComing
    },
    close(closed: boolean): void {
      form.hidden = closed
    },
  }
}

/** The button that attaches a picture, and the list of attachments. Shows type and size limits (SC 3.3.2). */
function createFiles(problem: (text: string) => void) {
  let attached: Attachment[] = []
  const list = h('p', { class: 'files' })
  const input = h('input', {
    type: 'file',
    accept: TYPES.join(','),
    class: 'hidden',
    tabindex: -1,
    'aria-hidden': 'true',
  })
  const button = h(
    'button',
    {
      type: 'button',
      class: 'plain',
      'aria-label': `${WORDS.attach}. ${WORDS.fileRule}`,
      title: WORDS.fileRule,
      click: () => input.click(),
    },
    icon(ICONS.file),
  )
  input.addEventListener('change', () => {
    const [file] = input.files ?? []
    input.value = ''
    if (file) void attach(file)
  })

  async function attach(file: File): Promise<void> {
    if (!TYPES.includes(file.type)) return problem(WORDS.notAPicture)
    if (file.size > MAX_BYTES) return problem(WORDS.tooLarge)
    const url = await new Promise<string>((resolve, reject) => {
      const reader = new FileReader()
      reader.onload = () => resolve(String(reader.result))
      reader.onerror = () => reject(reader.error ?? new Error('unreadable'))
      reader.readAsDataURL(file)
    }).catch(() => '')
    if (!url) return problem(WORDS.notAPicture)
    attached = [{ type: 'image_base64', data: url.slice(url.indexOf(',') + 1), mime_type: file.type }]
    const remove = h('button', { type: 'button', class: 'link', click: clear }, WORDS.removeFile(file.name))
    list.replaceChildren(remove)
  }

  function clear(): void {
    attached = []
    list.replaceChildren()
  }

  return {
    button,
    input,
    list,
    take(): Attachment[] {
      const taken = attached
      clear()
      return taken
    },
  }
}
