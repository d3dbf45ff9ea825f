import type { CDPSession, ElementHandle, Frame, Page, SerializedAXNode } from 'puppeteer-core'
import { within } from './live'
import { ACTIVE, readSnapshot } from './snapshot'

/** Something that a person can press or write in, but that the accessibility tree does not mark as such. */
type Pressable = {
  key: string
  role: string
  name: string
  value: string
  checked: boolean | null
  /** Its position in the document, and that of the last node inside it. */
  at: number
  last: number
  handle(): Promise<ElementHandle | null>
}

/** What the accessibility tree already knows, by key: interactive elements and open modal dialogs. */
type Known = {
  active: ReadonlyMap<string, string>
  modals: ReadonlySet<string>
}

/** Members that puppeteer has but does not declare. */
type Inside = Frame & {
  _id: string
  _loaderId: string
  client: CDPSession
  mainRealm(): { adoptBackendNode(id: number): Promise<ElementHandle> }
}

/** Key of a document's node, the same in both trees. */
const keyOf = (loaderId: string | undefined, backendNodeId: number | undefined): string =>
  `${loaderId}:${backendNodeId}`

const PRESSABLE_LATE_MS = 8_000

const STYLES = ['cursor', 'visibility', 'pointer-events', 'opacity', 'interactivity']

type Nested = {
  nodes: {
    nodeName?: number[]
    contentDocumentIndex?: { index: number[]; value: number[] }
  }
}

/** An element that a person could name: its role, its name, and the text around it. */
export type Element = {
  /** Stays the same as long as the element is on the page. */
  ref: string
  role: string
  name: string
  value: string
  /** Words of the groups around it, nearest first: the row, the card, the section. */
  around: readonly string[]
  disabled: boolean
  checked: boolean | null
  level: number | null
  handle(): Promise<ElementHandle | null>
}

type Node = SerializedAXNode & { backendNodeId?: number; loaderId?: string }
/** `key` is that of its node in both trees. */
type Keyed = Element & { key: string }

const MAX = 3_000
const MAX_NAME = 200
const LATE_MS = 8_000

/** Refs of the elements of a session's pages, by the browser's node ids. */
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
 * The elements of a page in document order, from the accessibility tree: names as a screen reader says them, through
 * frames and shadow roots, without hidden elements. Also includes other elements that a person can press.
 */
export async function readTree(page: Page, refs: Refs): Promise<Element[]> {
  const root = await within(page.accessibility.snapshot({ includeIframes: true, interestingOnly: true }), null, LATE_MS)
  const found: Keyed[] = []
  const active = new Map<string, string>()
  const modals = new Set<string>()
  const walk = (node: Node, around: readonly string[]): void => {
    if (found.length >= MAX) return
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

/** Merges pressable elements that the tree lacks, each at its position in the document. */
async function withPressable(page: Page, found: readonly Keyed[], known: Known, refs: Refs): Promise<Element[]> {
  const { pressable, places } = await readPressable(page, known)
  const instead = new Set(pressable.map(({ key }) => key))
  const placed: { at: number; element: Element }[] = []
  let at = -1
  for (const element of found) {
    at = places.get(element.key) ?? at
    if (!instead.has(element.key)) placed.push({ at, element })
  }
  const added = pressable.slice(0, MAX).map((one) => ({ at: one.at, element: toPressable(one, placed, refs) }))
  return [...placed, ...added].sort((a, b) => a.at - b.at).map(({ element }) => element)
}

/** Converts a pressable to an element, with the groups around its text. */
function toPressable(one: Pressable, placed: readonly { at: number; element: Element }[], refs: Refs): Element {
  const { key, role, name, value, checked, handle } = one
  const shown = placed.find(({ at }) => at >= one.at && at <= one.last) ?? placed.findLast(({ at }) => at < one.at)
  const around = shown?.element.around ?? []
  return {
    ref: refs(key),
    role,
    name: name.slice(0, MAX_NAME),
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
    name: name.replace(/\s+/g, ' ').trim().slice(0, MAX_NAME),
    value: value === undefined ? '' : String(value).slice(0, MAX_NAME),
    around,
    disabled,
    checked: checked === undefined ? null : checked === true,
    level: level ?? null,
    handle: () => node.elementHandle(),
  }
}

/** The words of a group, bounded. */
function wordsOf(node: Node, max = 400): string {
  let words = node.name ?? ''
  for (const child of (node.children ?? []) as Node[]) {
    if (words.length > max) break
    words += ` ${wordsOf(child, max - words.length)}`
  }
  return words.slice(0, max)
}

/**
 * The tree omits plain boxes, so a card is often only a heading, texts and a button in sequence. A button's `around`
 * therefore gets the words since the last heading or the last button of the same name.
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

/**
 * The pressable elements of a page as the browser reports them: click handlers, also those added by scripts, and the
 * cursor, through frames and shadow roots. `places` maps each node's key to its position in the document.
 */
async function readPressable(page: Page, known: Known) {
  const frames = page.frames() as Inside[]
  const places = new Map<string, number>()
  const pressable: Pressable[] = []
  const clients = [...new Set(frames.map(({ client }) => client))]
  const options = { computedStyles: STYLES }
  const taken = await Promise.all(
    clients.map((client) => within(client.send('DOMSnapshot.captureSnapshot', options), null, PRESSABLE_LATE_MS)),
  )
  let next = 0
  for (const snapshot of taken) {
    if (!snapshot) continue
    for (const { document, places: own } of inOrder(snapshot.documents, () => next++)) {
      const frame = frames.find(({ _id }) => _id === snapshot.strings[document.frameId])
      if (!frame) continue
      const keys = (document.nodes.backendNodeId ?? []).map((id) => keyOf(frame._loaderId, id))
      for (const [node, key] of keys.entries()) places.set(key, own[node]!)
      for (const { node, last, ...found } of readSnapshot(snapshot.strings, document, {
        active: (node) => known.active.get(keys[node]!) ?? null,
        isModal: (node) => known.modals.has(keys[node]!),
      })) {
        const id = document.nodes.backendNodeId![node]!
        const loader = frame._loaderId
        const handle = async () => (frame._loaderId === loader ? frame.mainRealm().adoptBackendNode(id) : null)
        pressable.push({
          ...found,
          key: keys[node]!,
          at: own[node]!,
          last: own[last]!,
          handle,
        })
      }
    }
  }
  return { pressable, places }
}

/** Numbers the nodes of all documents. The content of a frame comes right after its element. */
function inOrder<D extends Nested>(documents: readonly D[], next: () => number) {
  const found = new Map<D, number[]>()
  const walk = (document: D | undefined): void => {
    if (!document || found.has(document)) return
    const places: number[] = []
    found.set(document, places)
    const { nodeName = [], contentDocumentIndex } = document.nodes
    const shown = new Map(contentDocumentIndex?.index.map((node, at) => [node, contentDocumentIndex.value[at]!]))
    for (const node of nodeName.keys()) {
      places.push(next())
      if (shown.has(node)) walk(documents[shown.get(node)!])
    }
  }
  for (const document of documents) walk(document)
  return [...found].map(([document, places]) => ({ document, places }))
}
