type Said = { ref: string; role: string; name: string; value: string; level: number | null; checked: boolean | null }

/** The page as words: headings, texts, and a button for each thing that can be pressed. Texts are never markup. */
export function createWords(place: HTMLElement, press: (ref: string) => void) {
  let shown = ''
  return (nodes: readonly Said[]): void => {
    const now = JSON.stringify(nodes)
    if (now === shown) return
    shown = now
    place.replaceChildren(...nodes.map(nodeOf))
  }

  function nodeOf({ ref, role, name, value, level, checked }: Said): HTMLElement {
    if (role === 'heading') return textIn(document.createElement(`h${Math.min(6, Math.max(1, level ?? 2))}`), name)
    if (role === 'StaticText' || role === 'image') return textIn(document.createElement('p'), name)
    const button = document.createElement('button')
    button.type = 'button'
    button.onclick = () => press(ref)
    const line = document.createElement('p')
    line.append(textIn(button, [role, name, value, checked && 'checked'].filter(Boolean).join(' ')))
    return line
  }
}

function textIn<T extends HTMLElement>(node: T, text: string): T {
  node.textContent = text
  return node
}
