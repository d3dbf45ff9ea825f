/* Functions that run in pages. Each is self-contained, because only its source text is sent there. */

/** The kind of a field: the type of an input, `select`, or `text` for anything else. */
export const kindOfField = (node: unknown): string => {
  const field = node as HTMLInputElement
  return field.tagName === 'SELECT' ? 'select' : field.tagName === 'INPUT' ? field.type : 'text'
}

/** The kind of the focused field, also inside a shadow root. */
export const kindOfFocused = (): string => {
  let field = document.activeElement
  while (field?.shadowRoot?.activeElement) field = field.shadowRoot.activeElement
  return field?.tagName === 'INPUT'
    ? (field as HTMLInputElement).type
    : field?.tagName === 'IFRAME'
      ? 'password'
      : 'text'
}

/** A click without a position. SVG elements have no `click` method. */
export const clickItself = (node: unknown): void => {
  const pressed = node as HTMLElement
  if (pressed.click) pressed.click()
  else pressed.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, composed: true }))
}

/** Sets the value of a field and fires its events. */
export const setValue = (node: unknown, value: string): void => {
  const field = node as HTMLInputElement
  field.value = value
  field.dispatchEvent(new Event('input', { bubbles: true }))
  field.dispatchEvent(new Event('change', { bubbles: true }))
}

/** Selects the content of a field, so that typing replaces it. */
export const selectAll = (node: unknown): void => {
  const field = node as HTMLInputElement
  if (typeof field.select === 'function') {
    field.select()
    return
  }
  const range = document.createRange()
  range.selectNodeContents(field as unknown as globalThis.Node)
  getSelection()?.removeAllRanges()
  getSelection()?.addRange(range)
}

/** The value of the option with this name in a `<select>`. Null if there is none. */
export const chooseOption = (node: unknown, option: string): string | null => {
  const field = node as HTMLSelectElement
  if (field.tagName !== 'SELECT') return null
  const plain = (text: string) => text.trim().replace(/\s+/g, ' ').toLowerCase()
  const options = [...field.options]
  const wanted = plain(option)
  const found =
    options.find(({ label }) => plain(label) === wanted) ??
    options.find(({ value }) => plain(value) === wanted) ??
    options.find(({ label }) => plain(label).includes(wanted))
  return found ? found.value : null
}

/** The named element at a position of the page. Null if nothing there has a name. */
export const whatIsAt = (x: number, y: number): { role: string; name: string } | null => {
  let at = document.elementFromPoint(x, y)
  while (at?.shadowRoot?.elementFromPoint(x, y) && at.shadowRoot.elementFromPoint(x, y) !== at) {
    at = at.shadowRoot.elementFromPoint(x, y)
  }
  const node = at?.closest('a,button,input,select,textarea,label,summary,[role],[aria-label]') ?? at
  if (!node) return null
  const field = node as HTMLInputElement
  const labels = 'labels' in node ? [...(field.labels ?? [])].map((label) => label.textContent).join(' ') : ''
  const own = ['BODY', 'HTML', 'MAIN'].includes(node.tagName) ? '' : node.textContent
  const name = (node.getAttribute('aria-label') || labels || own || field.placeholder || '').trim().replace(/\s+/g, ' ')
  const roles: Record<string, string> = {
    A: 'link',
    BUTTON: 'button',
    INPUT: 'textbox',
    SELECT: 'combobox',
    TEXTAREA: 'textbox',
  }
  const ofInput: Record<string, string> = { checkbox: 'checkbox', radio: 'radio', submit: 'button', button: 'button' }
  const role = node.getAttribute('role') ?? ofInput[node.tagName === 'INPUT' ? field.type : ''] ?? roles[node.tagName]
  return name || role ? { role: role ?? node.tagName.toLowerCase(), name } : null
}

/** The visible content of a page as data: repeated groups, tables, labelled values. */
export type PageContent = {
  title: string
  url: string
  text: string
  headings: string[]
  links: { text: string; url: string }[]
  tables: { headers: string[]; rows: string[][] }[]
  /** Values with their labels: `Price` and `$5`. */
  pairs: [string, string][]
  /** Groups of the same shape. Each item's parts carry the class and attribute words of the page. */
  lists: Part[][][]
}

/** A piece of an item: its text, the class and attribute words of its element, and its link target. */
export type Part = { text: string; hints: string; tag: string; href: string | null }

/**
 * Reads a document, including open shadow roots. Runs in the page, so it is self-contained. Its result is untrusted and
 * used only as data.
 */
export function collectContent(): PageContent {
  const clean = (text: string | null | undefined, max = 500) => (text ?? '').replace(/\s+/g, ' ').trim().slice(0, max)
  const isShown = (node: Element) => {
    const box = node.getBoundingClientRect()
    const style = getComputedStyle(node)
    return style.visibility !== 'hidden' && style.display !== 'none' && (box.width > 0 || box.height > 0)
  }
  const skipped = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'SVG', 'HEAD'])
  const all: Element[] = []
  const walk = (root: ParentNode) => {
    for (const node of root.children) {
      if (all.length > 20_000 || skipped.has(node.tagName.toUpperCase()) || !isShown(node)) continue
      all.push(node)
      if (node.shadowRoot) walk(node.shadowRoot)
      walk(node)
    }
  }
  if (document.body) walk(document.body)
  const kids = (node: Element): Element[] => [...(node.shadowRoot?.children ?? []), ...node.children]
  const own = (node: Element) =>
    clean(
      [...node.childNodes]
        .filter((child) => child.nodeType === 3)
        .map((child) => child.textContent)
        .join(' '),
    )
  const hintsOf = (node: Element) =>
    [
      node.className,
      node.id,
      node.getAttribute('itemprop'),
      node.getAttribute('data-testid'),
      node.getAttribute('aria-label'),
    ]
      .filter((word) => typeof word === 'string' && word)
      .join(' ')
      .slice(0, 200)
  const partsOf = (item: Element): Part[] => {
    const parts: Part[] = []
    const take = (node: Element) => {
      if (parts.length >= 40 || skipped.has(node.tagName.toUpperCase()) || !isShown(node)) return
      const field = node as HTMLInputElement
      const text =
        own(node) || (node.tagName === 'IMG' ? clean(field.alt) : node.tagName === 'INPUT' ? clean(field.value) : '')
      const href = node.tagName === 'A' ? (node as HTMLAnchorElement).href : null
      if (text || href)
        parts.push({ text: text || clean(node.textContent), hints: hintsOf(node), tag: node.tagName, href })
      for (const child of kids(node)) take(child)
    }
    take(item)
    return parts
  }
  const shapeOf = (node: Element) => `${node.tagName}.${[...node.classList].sort().join('.')}`
  const lists: Part[][][] = []
  for (const node of all) {
    if (lists.length >= 40) break
    const groups = new Map<string, Element[]>()
    for (const child of kids(node)) {
      if (
        skipped.has(child.tagName.toUpperCase()) ||
        ['OPTION', 'BR', 'TR', 'TD', 'TH', 'DT', 'DD', 'LABEL'].includes(child.tagName)
      )
        continue
      if (isShown(child)) groups.set(shapeOf(child), [...(groups.get(shapeOf(child)) ?? []), child])
    }
    for (const group of groups.values()) {
      if (group.length >= 2) lists.push(group.slice(0, 200).map(partsOf))
    }
  }
  const cells = (row: HTMLTableRowElement) => [...row.cells].map((cell) => clean(cell.textContent))
  const pairs: [string, string][] = []
  for (const node of all) {
    if (pairs.length >= 300) break
    if (node.tagName === 'DT') pairs.push([clean(node.textContent), clean(node.nextElementSibling?.textContent)])
    if (node.tagName === 'LABEL') {
      const field = (node as HTMLLabelElement).control as HTMLInputElement | null
      if (field && field.type !== 'password') pairs.push([own(node) || clean(node.textContent), clean(field.value)])
    }
    const [, label, value] =
      /^([\p{L}][\p{L}\p{N} ()/-]{0,40}):\s*(.{1,200})$/u.exec(clean(node.textContent, 300)) ?? []
    if (label && value && node.children.length < 4) pairs.push([label, value])
    const hinted = hintsOf(node)
    if (hinted && own(node)) pairs.push([hinted.slice(0, 80), own(node)])
  }
  return {
    title: document.title.slice(0, 300),
    url: location.href.slice(0, 2_048),
    // biome-ignore lint/performance/useDomNodeTextContent: what is hidden is not on the page
    text: (document.body?.innerText ?? '').slice(0, 60_000),
    headings: all
      .filter(({ tagName }) => /^H[1-6]$/.test(tagName))
      .map((node) => clean(node.textContent))
      .slice(0, 100),
    links: all
      .filter(({ tagName }) => tagName === 'A')
      .map((node) => ({ text: clean(node.textContent, 200), url: (node as HTMLAnchorElement).href }))
      .slice(0, 500),
    tables: ([...document.querySelectorAll('table')] as HTMLTableElement[]).slice(0, 20).map((table) => {
      const rows = [...table.rows].slice(0, 500)
      const head = rows[0] && [...rows[0].cells].every(({ tagName }) => tagName === 'TH') ? rows.shift() : undefined
      return { headers: head ? cells(head) : [], rows: rows.map(cells) }
    }),
    pairs,
    lists,
  }
}
