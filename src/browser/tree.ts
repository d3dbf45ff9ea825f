import type { ElementHandle, Page, SerializedAXNode } from 'puppeteer-core'
import { within } from './live'
import { type Known, keyOf, type Pressable, readPressable } from './pressable'
import { ACTIVE } from './roles'

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
/** `key` is that of its node in both trees. */
type Keyed = Element & { key: string }

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
 * through frames and shadow roots, without what is hidden. What a person can press beside those is among them.
 */
export async function readTree(page: Page, refs: Refs): Promise<Element[]> {
  const root = await within(page.accessibility.snapshot({ includeIframes: true, interestingOnly: true }), null, LATE_MS)
  const found: Keyed[] = []
  const active = new Map<string, string>()
  const modals = new Set<string>()
  const walk = (node: Node, around: readonly string[]): void => {
    if (found.length >= MOST) return
    const children = (node.children ?? []) as Node[]
    const groups = children.length > 1 && !PAGES.has(node.role)
    const inner = groups ? [wordsOf(node), ...around].slice(0, 4) : around
    const element = toElement(node, around, refs)
    found.push(element)
    if (ACTIVE.has(element.role)) active.set(element.key, element.role)
    if (node.modal) modals.add(element.key)
    for (const child of children) walk(child, inner)
  }
  if (root) walk(root as Node, [])
  return withNeighbours(await withPressable(page, found, { active, modals }, refs))
}

/** The elements with what can be pressed and is none of them, each at its place in the document. */
async function withPressable(page: Page, found: readonly Keyed[], known: Known, refs: Refs): Promise<Element[]> {
  const { pressable, places } = await readPressable(page, known)
  const instead = new Set(pressable.map(({ key }) => key))
  const placed: { at: number; element: Element }[] = []
  let at = -1
  for (const element of found) {
    at = places.get(element.key) ?? at
    if (!instead.has(element.key)) placed.push({ at, element })
  }
  const added = pressable.slice(0, MOST).map((one) => ({ at: one.at, element: toPressable(one, placed, refs) }))
  return [...placed, ...added].sort((a, b) => a.at - b.at).map(({ element }) => element)
}

/** What can be pressed, with the groups of what it shows. */
function toPressable(one: Pressable, placed: readonly { at: number; element: Element }[], refs: Refs): Element {
  const { key, role, name, value, checked, handle } = one
  const shown = placed.find(({ at }) => at >= one.at && at <= one.last) ?? placed.findLast(({ at }) => at < one.at)
  const around = shown?.element.around ?? []
  return {
    ref: refs(key),
    role,
    name: name.slice(0, MOST_NAME),
    value,
    around,
    disabled: false,
    checked,
    level: null,
    handle,
  }
}

const PAGES = new Set(['RootWebArea', 'Iframe', 'main', 'generic', 'none'])

function toElement(node: Node, around: readonly string[], refs: Refs): Keyed {
  const { role, name = '', value, disabled = false, checked, level } = node
  const key = keyOf(node.loaderId, node.backendNodeId)
  return {
    key,
    ref: refs(key),
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
