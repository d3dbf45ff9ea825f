import DOMPurify from 'dompurify'
import { Marked, Tokenizer } from 'marked'

const ALLOWED = {
  ALLOWED_TAGS: [
    ...['p', 'br', 'strong', 'em', 'del', 'code', 'pre', 'blockquote', 'ul', 'ol', 'li', 'a', 'hr'],
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
  ],
  ALLOWED_ATTR: ['href', 'start', 'align'],
  ALLOWED_URI_REGEXP: /^https?:\/\//i,
  RETURN_DOM_FRAGMENT: true as const,
}

/** Longer texts are shown as they are: nobody reads formatting in them, and reading them would hold up the page. */
const MAX_FORMATTED = 50_000

/** How long one text may be read. Most take a millisecond or two; the library takes minutes for some floods. */
const MAX_MS = 50

let until = 0
/** Called before each piece of a text; a piece by itself takes little. */
function goOn(): false {
  if (performance.now() > until) throw new Error('too long')
  return false
}
const names = Object.getOwnPropertyNames(Tokenizer.prototype).filter((name) => name !== 'constructor')
const reader = new Marked({
  gfm: true,
  breaks: true,
  tokenizer: Object.fromEntries(names.map((name) => [name, goOn])),
})

/** The last text that took too long: what only adds to it is not tried again, as when an answer grows. */
let unread: string | null = null

/** HTML of a Markdown text; null for one that takes too long, or is nested too deeply. */
function htmlOf(text: string): string | null {
  if (text.length > MAX_FORMATTED || (unread && text.startsWith(unread))) return null
  until = performance.now() + MAX_MS
  try {
    return reader.parse(text, { async: false })
  } catch {
    unread = text
    return null
  }
}

/**
 * Text with Markdown as elements; plain where it is too long or takes too long to read. What an engine or a person wrote is hostile: no picture, script or style is
 * left, and links lead to http and https only, into a new tab that knows nothing of this one.
 */
export function formatted(text: string): Node {
  const markup = htmlOf(text)
  if (markup === null) return document.createTextNode(text)
  const fragment = DOMPurify.sanitize(markup, ALLOWED)
  for (const link of fragment.querySelectorAll('a')) {
    link.rel = 'noopener noreferrer nofollow'
    link.target = '_blank'
  }
  // A message must not take part in the outline of the page that shows it.
  for (const heading of fragment.querySelectorAll('h1,h2,h3,h4,h5,h6')) {
    const line = document.createElement('p')
    line.className = 'heading'
    line.append(...heading.childNodes)
    heading.replaceWith(line)
  }
  for (const table of fragment.querySelectorAll('table, pre')) {
    const box = document.createElement('div')
    box.className = 'scrolls'
    box.tabIndex = 0
    box.setAttribute('role', 'group')
    box.setAttribute('aria-label', table.tagName === 'PRE' ? 'Code' : 'Table')
    table.replaceWith(box)
    box.append(table)
  }
  return fragment
}
