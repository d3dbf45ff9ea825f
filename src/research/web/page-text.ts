/** The part of the DOM Node interface that reading text needs. */
type Node = { nodeType: number; nodeName: string; textContent: string | null; childNodes: Iterable<Node> }

const TEXT = 3
const ELEMENT = 1
const SILENT = new Set([
  'SCRIPT',
  'STYLE',
  'NOSCRIPT',
  'TEMPLATE',
  'SVG',
  'IFRAME',
  'HEAD',
  'OBJECT',
  'BUTTON',
  'SELECT',
])
const BLOCKS = new Set([
  'P',
  'DIV',
  'SECTION',
  'ARTICLE',
  'HEADER',
  'FOOTER',
  'MAIN',
  'ASIDE',
  'NAV',
  'UL',
  'OL',
  'LI',
  'DL',
  'DT',
  'DD',
  'TABLE',
  'TR',
  'BLOCKQUOTE',
  'PRE',
  'FIGURE',
  'FIGCAPTION',
  'FORM',
  'H1',
  'H2',
  'H3',
  'H4',
  'H5',
  'H6',
  'BR',
  'HR',
])

/** An element's text: one line per block, with marks for headings, list items and table cells. */
export function textOf(element: unknown): string {
  const pieces: string[] = []
  // Iterative, because an untrusted page may be nested deeper than the call stack allows.
  const stack: (Node | string)[] = [element as Node]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next === 'string') pieces.push(next)
    else if (next.nodeType === TEXT) pieces.push((next.textContent ?? '').replace(/\s+/g, ' '))
    else if (next.nodeType === ELEMENT) enter(next, stack)
  }
  // Trims every line and reduces runs of empty lines to one.
  const lines = pieces
    .join('')
    .split('\n')
    .map((line) => line.trim())
  const remaining = lines.filter((line, at) => line !== '' || (lines[at - 1] !== '' && at > 0))
  return remaining.join('\n').trim()
}

function enter(node: Node, stack: (Node | string)[]): void {
  const name = node.nodeName.toUpperCase()
  if (SILENT.has(name)) return
  const isBlock = BLOCKS.has(name)
  if (isBlock) stack.push('\n')
  if (name === 'TD' || name === 'TH') stack.push(' | ')
  stack.push(...[...node.childNodes].reverse())
  if (isBlock) stack.push(openingOf(name))
}

function openingOf(name: string): string {
  if (name === 'LI') return '\n- '
  return /^H[1-6]$/.test(name) ? `\n\n${'#'.repeat(Number(name[1]))} ` : '\n'
}
