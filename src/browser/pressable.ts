import type { CDPSession, ElementHandle, Frame, Page } from 'puppeteer-core'
import { within } from './live'
import { readSnapshot } from './snapshot'

/** Something that a person can press or write in, and that the accessibility tree does not say so of. */
export type Pressable = {
  key: string
  role: string
  name: string
  value: string
  checked: boolean | null
  /** Its place in the document, and that of the last node inside it. */
  at: number
  last: number
  handle(): Promise<ElementHandle | null>
}

/** What the accessibility tree knows already, by key: what something can be done with, and open modal dialogs. */
export type Known = {
  active: ReadonlyMap<string, string>
  modals: ReadonlySet<string>
}

/** What puppeteer has and does not declare. */
type Inside = Frame & {
  _id: string
  _loaderId: string
  client: CDPSession
  mainRealm(): { adoptBackendNode(id: number): Promise<ElementHandle> }
}

/** Of the node of a document: the same for both trees. */
export const keyOf = (loaderId: string | undefined, backendNodeId: number | undefined): string =>
  `${loaderId}:${backendNodeId}`

const LATE_MS = 8_000
const STYLES = ['cursor', 'visibility', 'pointer-events', 'opacity', 'interactivity']

/**
 * What can be pressed on a page by the browser's own word: its handlers of clicks, also those that scripts added, and
 * its cursor; through frames and shadow roots. `places` has the place of each node in the document by its key.
 */
export async function readPressable(page: Page, known: Known) {
  const frames = page.frames() as Inside[]
  const places = new Map<string, number>()
  const pressable: Pressable[] = []
  const clients = [...new Set(frames.map(({ client }) => client))]
  const options = { computedStyles: STYLES }
  const taken = await Promise.all(
    clients.map((client) => within(client.send('DOMSnapshot.captureSnapshot', options), null, LATE_MS)),
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

type Nested = {
  nodes: {
    nodeName?: number[]
    contentDocumentIndex?: { index: number[]; value: number[] }
  }
}

/** The documents with a number for each of their nodes: what a frame shows comes right after its element. */
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
