type Message = { ref: string; role: string; name: string; value: string; level: number | null; checked: boolean | null }
type RemoteInput = { press(ref: string): void; fill(ref: string, text: string): void; holds(): boolean }

const FIELDS = new Set(['textbox', 'searchbox', 'spinbutton'])

/**
 * The page as words: headings, texts, a field for each field, and a button for whatever else can be pressed. Texts are
 * never markup.
 */
export function createWords(place: HTMLElement, remoteInput: RemoteInput) {
  let shown = ''
  return (nodes: readonly Message[]): void => {
    const held = remoteInput.holds()
    const now = JSON.stringify([held, nodes])
    // A field that somebody types in stays as it is.
    if (now === shown || (place.contains(document.activeElement) && document.activeElement?.matches('input'))) return
    shown = now
    const at = [...place.querySelectorAll<HTMLElement>('[data-ref]')].find((node) => node === document.activeElement)
    place.replaceChildren(...nodes.map((node) => nodeOf(node, held)))
    if (at) place.querySelector<HTMLElement>(`[data-ref="${CSS.escape(at.dataset.ref!)}"]`)?.focus()
  }

  function nodeOf(message: Message, held: boolean): HTMLElement {
    const { ref, role, name, value, level, checked } = message
    if (role === 'heading') return textIn(document.createElement(`h${Math.min(6, Math.max(1, level ?? 2))}`), name)
    if (role === 'StaticText' || role === 'image') return textIn(document.createElement('p'), name)
    const line = document.createElement('p')
    if (FIELDS.has(role)) {
      line.append(fieldOf(message, held))
      return line
    }
    const button = document.createElement('button')
    button.type = 'button'
    button.dataset.ref = ref
    button.disabled = !held
    button.onclick = () => remoteInput.press(ref)
    line.append(textIn(button, [role, name, value, checked && 'checked'].filter(Boolean).join(' ')))
    return line
  }

  function fieldOf({ ref, name, value }: Message, held: boolean): HTMLElement {
    const label = textIn(document.createElement('label'), `${name} `)
    const field = document.createElement('input')
    Object.assign(field, { type: 'text', value, disabled: !held, autocomplete: 'off' })
    field.dataset.ref = ref
    field.onchange = () => remoteInput.fill(ref, field.value)
    label.append(field)
    return label
  }
}

function textIn<T extends HTMLElement>(node: T, text: string): T {
  node.textContent = text
  return node
}
