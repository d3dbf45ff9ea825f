import type { Protocol } from 'puppeteer-core'

/** Roles of interactive elements. */
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

type Document = Protocol.DOMSnapshot.DocumentSnapshot

/** Facts from the caller about a node: its role if it is already known as interactive, and whether it is a modal. */
type Facts = {
  active(node: number): string | null
  isModal(node: number): boolean
}

/** A node that can be pressed, with the last node inside it. */
type Found = {
  node: number
  last: number
  role: string
  name: string
  value: string
  checked: boolean | null
}

const MAX_NAME = 200
/** A handler above more texts than this belongs to the whole page, not to single elements. */
const MAX_TEXTS = 40
const NEVER = new Set(['HTML', 'BODY', 'IFRAME', 'OPTION', 'OPTGROUP', 'SCRIPT', 'STYLE'])
const LISTS = new Set(['UL', 'OL', 'DL', 'MENU', 'TABLE', 'TBODY'])
/** Roles of containers whose items are pressed, not the containers themselves. */
const HOLDERS = new Set(['listbox', 'combobox', 'menu', 'tree'])

/**
 * The nodes of a document that a person can see and press: they have click handlers, a pointer cursor, an interactive
 * role or editable text. Omits hidden, disabled and inert nodes, nodes behind a modal dialog, and those that `active`
 * already has.
 */
export function readSnapshot(strings: readonly string[], { nodes, layout }: Document, facts: Facts): Found[] {
  const parents = nodes.parentIndex ?? []
  const count = parents.length
  const word = (index: number | undefined): string => (index === undefined || index < 0 ? '' : strings[index]!)
  const tags = (nodes.nodeName ?? []).map((name) => word(name).toUpperCase())
  const clickable = new Set(nodes.isClickable?.index)
  const inputs = new Set(nodes.inputChecked?.index)
  const shadows = new Map(nodes.shadowRootType?.index.map((node, at) => [node, word(nodes.shadowRootType!.value[at])]))
  const boxes = new Map(layout.nodeIndex.map((node, at) => [node, at]))
  const attributes = (node: number): Map<string, string> => {
    const pairs = nodes.attributes?.[node] ?? []
    return new Map(pairs.flatMap((name, at) => (at % 2 ? [] : [[word(name), word(pairs[at + 1])] as const])))
  }

  // Nodes come in document order, each after its parent.
  const last = Array.from({ length: count }, (_, node) => node)
  for (let node = count - 1; node > 0; node--) {
    const parent = parents[node]!
    if (parent >= 0) last[parent] = Math.max(last[parent]!, last[node]!)
  }
  const isModal = Array.from({ length: count }, (_, node) => facts.isModal(node))
  const isBehind = isModal.includes(true)
  const state = new Array<{ off: boolean; pointer: boolean; inFront: boolean }>(count)
  const owners = new Array<number>(count)
  /** The nearest ancestor that handles clicks for each node. */
  const hearers = new Array<number>(count)
  const candidates = new Set<number>()
  const starts = new Set<number>()

  for (let node = 0; node < count; node++) {
    const parent = parents[node]!
    const above = state[parent] ?? {
      off: false,
      pointer: false,
      inFront: false,
    }
    const box = boxes.get(node)
    const styles = box === undefined ? null : layout.styles[box]!.map(word)
    const of = nodes.nodeType?.[node] === 1 ? attributes(node) : new Map<string, string>()
    const disabled =
      of.get('aria-disabled') === 'true' || (of.has('disabled') && (FIELDS.has(tags[node]!) || of.has('role')))
    const [cursor, visibility, events, opacity, interactivity] = styles ?? []
    const off =
      above.off || disabled || opacity === '0' || interactivity === 'inert' || shadows.get(node) === 'user-agent'
    const inFront = above.inFront || isModal[node]!
    const pointer = styles ? cursor === 'pointer' : above.pointer
    state[node] = { off, pointer, inFront }
    hearers[node] = hearers[parent] ?? -1
    owners[node] = owners[parent] ?? -1
    if (facts.active(node)) {
      owners[node] = node
      hearers[node] = -1
      continue
    }
    const [, , width = 0, height = 0] = box === undefined ? [] : layout.bounds[box]!
    const seen = styles !== null && visibility === 'visible' && events !== 'none' && width > 0 && height > 0
    if (nodes.nodeType?.[node] !== 1 || !seen || off || NEVER.has(tags[node]!) || (isBehind && !inFront)) continue
    const listens = clickable.has(node)
    const points = pointer && !above.pointer
    const says = ACTIVE.has(of.get('role') ?? '') || isEditable(of)
    if (!listens && !points && !says) continue
    if (tags[node] === 'LABEL') {
      const control = controlOf(node)
      if (control !== null && (facts.active(control) !== null || attributes(control).has('disabled'))) continue
    }
    candidates.add(node)
    if (points) starts.add(node)
    owners[node] = node
    hearers[node] = listens && !pointer && !says && tags[node] !== 'LABEL' ? node : -1
  }
  divide()
  return [...candidates].flatMap(describe)

  /** The field of a label. Null when it has none. */
  function controlOf(label: number): number | null {
    const id = attributes(label).get('for')
    for (let node = id ? 0 : label + 1; node <= (id ? count - 1 : last[label]!); node++) {
      if (FIELDS.has(tags[node]!) && (!id || attributes(node).get('id') === id)) return node
    }
    return null
  }

  /** Splits lists and groups that handle clicks for their content. The texts inside are what a person presses. */
  function divide(): void {
    const texts = new Map<number, Set<number>>()
    const taken = new Set<number>()
    for (let node = 0; node < count; node++) {
      const hearer = hearers[node]!
      if (hearer < 0 || nodes.nodeType?.[node] !== 3 || !textOf(node) || owners[node] !== hearer) continue
      let piece = parents[node]!
      for (let above = piece; above > hearer; above = parents[above]!) if (taken.has(above)) piece = above
      taken.add(piece)
      texts.set(hearer, (texts.get(hearer) ?? new Set()).add(piece))
    }
    for (const [hearer, pieces] of texts) {
      if (pieces.size < 2 || pieces.has(hearer)) continue
      candidates.delete(hearer)
      if (pieces.size > MAX_TEXTS && !LISTS.has(tags[hearer]!)) continue
      for (const piece of pieces) {
        candidates.add(piece)
        for (let node = piece; node <= last[piece]!; node++) if (owners[node] === hearer) owners[node] = piece
      }
    }
  }

  /** The visible text of a text node. Empty if it shows none. */
  function textOf(node: number): string {
    const box = boxes.get(node)
    return box === undefined || word(layout.styles[box]![1]) !== 'visible' ? '' : word(nodes.nodeValue?.[node]).trim()
  }

  /** The words in a node, without those of other interactive elements inside it. */
  function wordsIn(node: number): string {
    const words: string[] = []
    for (let at = node; at <= last[node]!; at++) {
      if (owners[at] !== node) continue
      if (nodes.nodeType?.[at] === 3) {
        words.push(tags[parents[at]!] === 'TITLE' ? word(nodes.nodeValue?.[at]).trim() : textOf(at))
      } else if (tags[at] === 'IMG') words.push(attributes(at).get('alt') ?? '')
      else if (at !== node && tags[at] === 'SVG') words.push(attributes(at).get('aria-label') ?? '')
    }
    return words.filter(Boolean).join(' ')
  }

  function describe(node: number): Found[] {
    const of = attributes(node)
    const named = (of.get('aria-labelledby') ?? '').split(/\s+/).filter(Boolean)
    const byOthers = named.map((id) => {
      const other = tags.findIndex((_, at) => nodes.nodeType?.[at] === 1 && attributes(at).get('id') === id)
      return other < 0 ? '' : allWordsIn(other)
    })
    const inside = wordsIn(node).replace(/\s+/g, ' ').trim()
    const editable = isEditable(of)
    const hints = [of.get('aria-placeholder'), of.get('placeholder'), of.get('data-placeholder')]
    const name = [byOthers.join(' '), of.get('aria-label'), ...(editable ? hints : []), inside, of.get('title')]
      .map((text) => (text ?? '').trim())
      .find(Boolean)
    if (!name) return []
    const holder = holderOf(node)
    const plain = !clickable.has(node) && !ACTIVE.has(of.get('role') ?? '') && !editable
    // A node that only repeats the text of its button is not a separate target.
    if (holder !== null && (plain || allWordsIn(holder) === inside)) return []
    // A handler above a long text does not concern that text.
    if (name.length > MAX_NAME && !starts.has(node) && !editable && !of.has('role')) return []
    const control = tags[node] === 'LABEL' ? controlOf(node) : null
    const type = control === null ? '' : (attributes(control).get('type') ?? '').toLowerCase()
    const checked =
      type === 'checkbox' || type === 'radio'
        ? inputs.has(control!)
        : (CHECKED.get(of.get('aria-checked') ?? '') ?? null)
    const role = roleOf(node, of, type)
    return [
      {
        node,
        last: last[node]!,
        role,
        name,
        value: editable ? inside.slice(0, MAX_NAME) : '',
        checked,
      },
    ]
  }

  function allWordsIn(node: number): string {
    return Array.from({ length: last[node]! - node + 1 }, (_, at) => textOf(node + at))
      .filter(Boolean)
      .join(' ')
      .replace(/\s+/g, ' ')
  }

  /** The button, link or similar element around a node. Null where there is none. */
  function holderOf(node: number): number | null {
    for (let at = parents[node]!; at >= 0; at = parents[at]!) {
      const role = facts.active(at)
      if (role && !HOLDERS.has(role)) return at
    }
    return null
  }

  function roleOf(node: number, of: ReadonlyMap<string, string>, type: string): string {
    const text = of.get('role') ?? ''
    if (ACTIVE.has(text)) return text
    if (isEditable(of)) return 'textbox'
    if (type === 'checkbox' || type === 'radio') return type
    return tags[node] === 'A' ? 'link' : 'button'
  }
}

const FIELDS = new Set(['INPUT', 'SELECT', 'TEXTAREA', 'BUTTON', 'FIELDSET'])
const CHECKED = new Map([
  ['true', true],
  ['false', false],
])

const isEditable = (of: ReadonlyMap<string, string>): boolean =>
  of.has('contenteditable') && of.get('contenteditable') !== 'false'
