import MarkdownIt, { type Token } from 'markdown-it'

/** Longer texts are shown as they are: nobody reads formatting in them, and reading them would hold up the page. */
const MAX_FORMATTED = 50_000

/** How long one text may be read. Most take a millisecond or two; the library takes half a second for some floods. */
const MAX_MS = 50

/** Quotes and lists in one another; the library drops what is deeper than a hundred. */
const MAX_DEPTH = 50

const reader = new MarkdownIt({ html: true, breaks: true, linkify: true }).disable('html_block')
reader.linkify.set({ fuzzyLink: false, fuzzyEmail: false })
reader.linkify.add('www.', {
  validate: (text, at, linkify) => Math.max(0, linkify.testSchemaAt(`//${text.slice(at)}`, 'http:', 0) - 2),
  normalize: (match) => {
    match.url = `http://${match.url}`
  },
})

let until = 0
/** Called before each piece of a text; a piece by itself takes little. */
function goOn({ level }: { level: number }): false {
  if (level > MAX_DEPTH || performance.now() > until) throw new Error('too long')
  return false
}
reader.block.ruler.before('table', 'limit', goOn)
reader.inline.ruler.before('text', 'limit', goOn)

/** The last text that took too long: what only adds to it is not tried again, as when an answer grows. */
let unread: string | null = null

/** The tokens of a Markdown text; null for one that takes too long, or is nested too deeply. */
function tokensOf(text: string): Token[] | null {
  if (text.length > MAX_FORMATTED || (unread && text.startsWith(unread))) return null
  until = performance.now() + MAX_MS
  try {
    return reader.parse(text, {})
  } catch {
    unread = text
    return null
  }
}

/**
 * Text with Markdown as elements; plain where it is too long or takes too long to read. What an engine or a person
 * wrote is hostile. No part of it becomes HTML: each element is made here, without pictures, and links lead to http and
 * https only, into a new tab that knows nothing of this one.
 */
export function formatted(text: string): Node {
  const tokens = tokensOf(text)
  if (!tokens) return document.createTextNode(text)
  const fragment = document.createDocumentFragment()
  fill(fragment, tokens)
  return fragment
}

function fill(parent: Node, tokens: readonly Token[]): void {
  const open = [parent]
  for (const token of tokens) {
    const last = open.at(-1)!
    if (token.type === 'inline') fill(last, token.children ?? [])
    else if (token.hidden) continue
    else if (token.nesting < 0) open.pop()
    else if (token.nesting > 0) {
      const element = elementOf(token)
      last.appendChild(token.tag === 'table' ? scrolling(element, 'Table') : element)
      open.push(element)
    } else last.appendChild(leafOf(token))
  }
}

function elementOf(token: Token): HTMLElement {
  // A message must not take part in the outline of the page that shows it.
  const isHeading = token.type === 'heading_open'
  const element = document.createElement(isHeading ? 'p' : token.tag)
  if (isHeading) element.className = 'heading'
  if (element instanceof HTMLAnchorElement) {
    const href = String(token.attrGet('href'))
    if (/^https?:\/\//i.test(href)) element.href = href
    element.rel = 'noopener noreferrer nofollow'
    element.target = '_blank'
  }
  if (element instanceof HTMLOListElement) element.start = Number(token.attrGet('start') ?? 1)
  const side = /^text-align:(\w+)$/.exec(String(token.attrGet('style')))
  if (side) element.style.textAlign = side[1]!
  return element
}

function leafOf({ type, content }: Token): Node {
  const made = (tag: string, text = '') => Object.assign(document.createElement(tag), { textContent: text })
  switch (type) {
    case 'text':
      return document.createTextNode(content)
    case 'code_inline':
      return made('code', content)
    case 'fence':
    case 'code_block': {
      const block = document.createElement('pre')
      block.append(made('code', content))
      return scrolling(block, 'Code')
    }
    case 'hr':
      return made('hr')
    case 'softbreak':
    case 'hardbreak':
      return made('br')
    default:
      // Of HTML the line break is shown, as engines write it in tables; other tags and pictures are left out.
      return /^<br\s*\/?>$/i.test(content) ? made('br') : document.createTextNode('')
  }
}

function scrolling(content: HTMLElement, name: string): HTMLElement {
  const box = document.createElement('div')
  box.className = 'scrolls'
  box.tabIndex = 0
  box.setAttribute('role', 'group')
  box.setAttribute('aria-label', name)
  box.append(content)
  return box
}
