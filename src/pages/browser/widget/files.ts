import { h, ICONS, icon } from '../shared/dom'
import type { Attachment } from './wire'
import { WORDS } from './words'

/** What fits into one message as the server takes it, once it is written as text. */
const MAX_BYTES = 2.5 * 1024 * 1024
const TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']

/** The button that attaches a picture, and the list of what is attached; type and size are said before (SC 3.3.2). */
export function createFiles(problem: (text: string) => void) {
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
