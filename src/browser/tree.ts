import type { ElementHandle, Page, SerializedAXNode } from 'puppeteer-core'
import { within } from './live'

/** One thing on a page that a person could name: what it is, what it is called, and what stands around it. */
export type Element = {
  /** Stays the same as long as the element is on the page. */
  ref: string
  role: string
  name: string
  value: string
  /** Words of the group it stands in, nearest first: the row, the card, the section. */
  around: readonly string[]
  disabled: boolean
  checked: boolean | null
  level: number | null
  handle(): Promise<ElementHandle | null>
}

type Node = SerializedAXNode & { backendNodeId?: number; loaderId?: string }

const MOST = 3_000
const MOST_NAME = 200
const LATE_MS = 8_000

/** Refs of the elements of a session's pages, by the ids that the browser gives to its nodes. */
export function createRefs() {
  const refs = new Map<string, string>()
  return (key: string): string => {
    const known = refs.get(key)
    if (known) return known
    if (refs.size > 50_000) refs.clear()
    const made = `e${refs.size + 1}`
    refs.set(key, made)
    return made
  }
}
export type Refs = ReturnType<typeof createRefs>

/**
 * The elements of a page in the order of its document, from the accessibility tree: names as a screen reader says them,
 * through frames and shadow roots, without what is hidden.
 */
export async function readTree(page: Page, refs: Refs): Promise<Element[]> {
  const root = await within(page.accessibility.snapshot({ includeIframes: true, interestingOnly: true }), null, LATE_MS)
  const found: Element[] = []
  const walk = (node: Node, around: readonly string[]): void => {
    if (found.length >= MOST) return
    const children = (node.children ?? []) as Node[]
    const groups = children.length > 1 && !PAGES.has(node.role)
    const inner = groups ? [wordsOf(node), ...around].slice(0, 4) : around
    found.push(toElement(node, around, refs))
    for (const child of children) walk(child, inner)
  }
  if (root) walk(root as Node, [])
  return withNeighbours(found)
}

const PAGES = new Set(['RootWebArea', 'Iframe', 'main', 'generic', 'none'])

function toElement(node: Node, around: readonly string[], refs: Refs): Element {
  const { role, name = '', value, disabled = false, checked, level } = node
  return {
    ref: refs(`${node.loaderId}:${node.backendNodeId}`),
    role,
    name: name.replace(/\s+/g, ' ').trim().slice(0, MOST_NAME),
    value: value === undefined ? '' : String(value).slice(0, MOST_NAME),
    around,
    disabled,
    checked: checked === undefined ? null : checked === true,
    level: level ?? null,
    handle: () => node.elementHandle(),
  }
}

/** The words of a group, bounded. */
function wordsOf(node: Node, most = 400): string {
  let words = node.name ?? ''
  for (const child of (node.children ?? []) as Node[]) {
    if (words.length > most) break
    words += ` ${wordsOf(child, most - words.length)}`
  }
  return words.slice(0, most)
}

/**
 * The tree leaves out plain boxes, so a card is often only a heading, texts and a button in a row. The words since the
 * last heading or the last button of the same name stand around a button.
 */
function withNeighbours(elements: readonly Element[]): Element[] {
  let since: string[] = []
  const shown: Element[] = []
  for (const element of elements) {
    const { role, name } = element
    if (role === 'heading') since = []
    shown.push({ ...element, around: since.length ? [since.join(' ').slice(-300), ...element.around] : element.around })
    if (name) since = [...since, name].slice(-8)
    if (role === 'button') since = since.filter((words) => words !== name)
  }
  return shown
}

/** Roles that something can be done with. */
export const ACTIVE: ReadonlySet<string> = new Set([
  'button',
  'link',
  'textbox',
  'searchbox',
  'combobox',
  'listbox',
  'option',
  'checkbox',
  'radio',
  'switch',
  'slider',
  'spinbutton',
  'tab',
  'menuitem',
  'menuitemcheckbox',
  'menuitemradio',
  'treeitem',
  'DisclosureTriangle',
  'Date',
  'DateTime',
  'InputTime',
  'ColorWell',
])
