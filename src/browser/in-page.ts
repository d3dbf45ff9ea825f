/*
 * Functions that run in pages: each stands alone, because only its text is sent there.
 */

/** The kind of a field: the type of an input, `select`, or `text` for anything else. */
export const kindOfField = (node: unknown): string => {
  const field = node as HTMLInputElement
  return field.tagName === 'SELECT' ? 'select' : field.tagName === 'INPUT' ? field.type : 'text'
}

/** The same of the field that has the keyboard, also in a shadow root. */
export const kindOfFocused = (): string => {
  let field = document.activeElement
  while (field?.shadowRoot?.activeElement) field = field.shadowRoot.activeElement
  return field?.tagName === 'INPUT'
    ? (field as HTMLInputElement).type
    : field?.tagName === 'IFRAME'
      ? 'password'
      : 'text'
}

/** A click without a place: drawings have no method for it. */
export const clickItself = (node: unknown): void => {
  const pressed = node as HTMLElement
  if (pressed.click) pressed.click()
  else pressed.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, composed: true }))
}

/** Sets the value of a field, and tells the page. */
export const setValue = (node: unknown, value: string): void => {
  const field = node as HTMLInputElement
  field.value = value
  field.dispatchEvent(new Event('input', { bubbles: true }))
  field.dispatchEvent(new Event('change', { bubbles: true }))
}

/** Selects what is in a field, so that typing takes its place. */
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

/** The value of the option of a `<select>` that is called so; null where there is none. Runs in the page. */
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

/** What stands at a place of the page, as people call it; null where nothing has a name. */
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
