import { h, setText } from '../shared/dom'

type Found = { skills?: { slug: string; name: string }[]; error?: { message?: string } }

/** Switches for the skills that a key may use; `changed` gets the slugs of those that are on. */
export function skillSwitches(changed: (slugs: string[]) => void) {
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
