import MarkdownIt, { type Token } from 'markdown-it'

/** Longer texts are shown unformatted. Nobody reads formatting in them, and parsing would block the page. */
const MAX_FORMATTED = 50_000

/** Time limit for parsing one text. Most take a millisecond or two, some hostile ones half a second. */
const MAX_MS = 50

/** Maximum nesting of quotes and lists. The library drops levels deeper than a hundred. */
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
/** Runs before each piece of a text, because a single piece takes little time. */
function goOn({ level }: { level: number }): false {
  if (level > MAX_DEPTH || performance.now() > until) throw new Error('too long')
  return false
}
reader.block.ruler.before('table', 'limit', goOn)
reader.inline.ruler.before('text', 'limit', goOn)

/** The last text that took too long. Texts that extend it are not tried again, as while an answer grows. */
let unread: string | null = null

/** The tokens of a Markdown text. Null for one that takes too long, or is nested too deeply. */
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
 * Markdown text as elements. Plain if it is too long or takes too long to parse. Texts of engines and people are
 * hostile. No part of them becomes HTML: each element is created here, without pictures. Links lead only to http and
 * https, in a new tab without access to this one.
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
  // A message must not become part of the outline of the page around it.
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
      // Of HTML only the line break is shown, because engines write it in tables. Other tags and pictures are omitted.
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
