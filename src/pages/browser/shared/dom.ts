type Child = Node | string | null | undefined | false
type Props = Record<string, string | boolean | number | null | undefined | ((event: never) => void)>

/**
 * Creates an element with its attributes and children. Text becomes text nodes, so user text is never read as markup. A
 * function is a listener, `true` is an empty attribute. Null and false are omitted.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue
    if (typeof value === 'function') element.addEventListener(name, value as EventListener)
    else element.setAttribute(name, value === true ? '' : String(value))
  }
  element.append(...children.filter((child): child is Node | string => Boolean(child)))
  return element
}

const SVG = 'http://www.w3.org/2000/svg'

/** A decorative icon of 24 by 24. The control around it has the text. */
export function icon(path: string): SVGElement {
  const svg = document.createElementNS(SVG, 'svg')
  for (const [name, value] of Object.entries({ viewBox: '0 0 24 24', 'aria-hidden': 'true', class: 'icon' }))
    svg.setAttribute(name, value)
  const drawn = document.createElementNS(SVG, 'path')
  drawn.setAttribute('d', path)
  svg.append(drawn)
  return svg
}

export const ICONS = {
  chat: 'M4 4h16v12H9l-5 4V4z',
  close: 'M6 6l12 12M18 6L6 18',
  send: 'M4 12h14M12 5l7 7-7 7',
  stop: 'M7 7h10v10H7z',
  menu: 'M4 7h16M4 12h16M4 17h16',
  file: 'M20 11l-8.5 8.5a5 5 0 0 1-7-7L13 4a3.5 3.5 0 0 1 5 5l-8.5 8.5a2 2 0 0 1-3-3L14 7',
} as const

/** The JSON that the server wrote into the page. */
export function pageData<T>(id: string): T {
  return JSON.parse(document.getElementById(id)?.textContent || 'null') as T
}

/** Sets text only if it differs, so that a live region is not announced again. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

/** Minimum time between two typing notices. */
const EVERY_MS = 3_000

/** Calls `tell` while text is typed into a field, but not for an emptied field. */
export function whileTyping(field: HTMLTextAreaElement, tell: () => void): void {
  let notifiedAt = -EVERY_MS
  field.addEventListener('input', () => {
    if (!field.value || performance.now() - notifiedAt <= EVERY_MS) return
    notifiedAt = performance.now()
    tell()
  })
}
