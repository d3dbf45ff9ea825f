import DOMPurify from 'dompurify'
import { marked } from 'marked'

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
const MOST_FORMATTED = 50_000

/**
 * Text with Markdown as elements. What an engine or a person wrote is hostile: no picture, script or style is
 * left, and links lead to http and https only, into a new tab that knows nothing of this one.
 */
export function formatted(text: string): Node {
  if (text.length > MOST_FORMATTED) return document.createTextNode(text)
  const fragment = DOMPurify.sanitize(marked.parse(text, { async: false, gfm: true, breaks: true }), ALLOWED)
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
