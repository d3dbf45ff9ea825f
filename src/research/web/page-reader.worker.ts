import { Readability } from '@mozilla/readability'
import { DOMParser, parseHTML } from 'linkedom'
import { parsedJson } from '../../kernel/json'
import { beginningOf } from '../../kernel/text'
import { answerTasks } from '../../kernel/worker-pool'
import { markOf } from './office-parts'

/**
 * `prose`: joins the lines of preformatted text, as sentences need. `isXml`: an element may be self-closing. `isFeed`:
 * the page is an RSS or Atom feed. `whole`: the page was given as a file, so all that it shows is read.
 */
export type PageQuery = {
  html: string
  maxChars: number
  prose: boolean
  isXml?: boolean
  isFeed?: boolean
  whole?: boolean
}
/** `publishedAt` in the page's own format. */
export type PageAnswer = {
  title: string | null
  text: string
  publishedAt: string | null
  /** The first pages of a PDF without text, as base64 JPEGs, if requested. */
  pictures?: string[]
}

/** Self-closing elements such as `<script src="a.js"/>`, which HTML treats as a start tag. Excludes void elements. */
const CLOSED_AT_ONCE =
  /<(?!(?:br|hr|img|input|meta|link|area|base|col|embed|source|track|wbr)\b)([a-z][\w:-]{0,40})(\s[^<>]*)?\/>/gi

const MAX_TITLE_CHARS = 500
const MAX_DATE_CHARS = 40

/** Extracts the main article of a page, or all its text when there is none. Runs no scripts and loads nothing. */
function readable({ html, prose, isXml, whole: isWhole }: PageQuery): PageAnswer {
  const document = documentOf(isXml ? html.replace(CLOSED_AT_ONCE, '<$1$2></$1>') : html)
  for (const banner of bannersIn(document)) banner.remove()
  const ownTitle = document.title?.trim() || null
  const all = textOf(document.documentElement, prose)
  const visible = textOf(document.documentElement, prose, isHidden)
  // A page that its scripts show as a whole is not hidden.
  const hides = visible.length * 4 > all.length
  const everything = hides ? visible : all
  const dated = dateIn(document)
  // Read first, because `Readability` removes the scripts.
  const stated = everything.length < MAX_SHELL_CHARS ? statedIn(document) : ''
  const shown = textOf(
    document.documentElement,
    prose,
    (node) => BESIDE.test(`${node.nodeName} ${node.id} ${node.className}`) || (hides && isHidden(node)),
  )
  const article = new Readability(document as unknown as Document, {
    serializer: (node) => textOf(node as Element, prose),
    maxElemsToParse: 50_000,
  }).parse()
  const publishedAt = article?.publishedTime || dated
  const whole = shown.length * 2 > everything.length ? shown : everything
  const found = article?.content && article.content.length < everything.length ? article.content : whole
  // A page of many short parts has no article, and the longest of these is taken for one.
  const part = found.length < MAX_PART_CHARS && found.length < shown.length * MIN_SHARE ? shown : found
  const text = isWhole ? everything : part
  return { title: article?.title || ownTitle, text: stated.length > text.length ? stated : text, publishedAt }
}

/** What is shorter than this, and less than this share of the text that is not beside it, is a part of a page. */
const MAX_PART_CHARS = 3_000
const MIN_SHARE = 0.4
/** Elements that lead elsewhere, or hold what others say of a page. */
const BESIDE = /\b(?:aside|comments?|related|sidebar|footer|nav|menu|breadcrumbs?|share|social|promo)\b/i

/** Whether a page never shows an element. A browser shows `until-found` to those who search for its words. */
const isHidden = (node: PageNode): boolean =>
  (node.getAttribute?.('hidden') ?? 'until-found') !== 'until-found' ||
  /\bdisplay:\s?none\b/i.test(node.getAttribute?.('style') ?? '')

const CONSENT = /cookie|consent|gdpr|onetrust/i
const ASKS_CONSENT =
  /\b(?:accept|agree|consent|preferences|akzeptieren|einverstanden|zustimm\w+|accepter|aceptar|accetta|aceitar)\b/i

/** What a page asks every new reader, such as for cookies: it is no part of what the page says. */
function bannersIn(document: Document): Element[] {
  const half = (document.body.textContent ?? '').length / 2
  return [...document.querySelectorAll('div, section, aside, dialog, form')].filter((element) => {
    if (!CONSENT.test(`${element.id} ${element.getAttribute('class') ?? ''}`)) return false
    const text = element.textContent ?? ''
    return text.length < half && ASKS_CONSENT.test(text) && !element.querySelector('main, article, h1')
  })
}

/** Names of the date of publication that `Readability` does not know: those of libraries, journals and older sites. */
const DATE_NAME =
  /^(?:datePublished|date|dc(?:terms)?\.(?:date(?:\.(?:issued|created))?|issued|created)|pub-?date|publish-?date|citation_(?:publication_|online_)?date)$/i

function dateIn(document: Document): string | null {
  const dates = document.querySelectorAll('meta[content], time[datetime]')
  const found = [...dates].find((one) =>
    ['name', 'itemprop', 'property'].some((name) => DATE_NAME.test(one.getAttribute(name) ?? '')),
  )
  return found?.getAttribute('content') ?? found?.getAttribute('datetime') ?? null
}

/** A page with less text than this may be filled by its scripts. */
const MAX_SHELL_CHARS = 300

/**
 * The text that a page offers to programs that run no scripts: the article in its JSON-LD, the content of its
 * `noscript`, or its description.
 */
function statedIn(document: Document): string {
  const article = [...document.querySelectorAll('script[type="application/ld+json"]')]
    .map((script) => /"articleBody"\s*:\s*("(?:[^"\\]|\\[\s\S])*")/.exec(script.textContent ?? '')?.[1])
    .find(Boolean)
  const body = article && parsedJson(article.replace(/\n/g, '\\n'))
  if (typeof body === 'string') return body
  const without = [...document.body.querySelectorAll('noscript')].map((one) => (one.textContent ?? '').trim())
  const shown = without.filter((text) => text && !/javascript|<(?:img|iframe)\b/i.test(text)).join('\n')
  if (shown) return shown
  const about = document.querySelector('meta[name="description"], meta[property="og:description"]')
  return about?.getAttribute('content')?.trim() ?? ''
}

/** The members of a feed's entry, by what they say. */
const TEXTS = ['content:encoded', 'content', 'description', 'summary', 'media:group']
const DATES = ['published', 'pubDate', 'updated', 'dc:date']

/** The entries of a feed: title, date, text and address. Their texts are HTML, escaped or as elements. */
function feedIn({ html, prose }: PageQuery): PageAnswer {
  const root = new DOMParser().parseFromString(html, 'text/xml').documentElement as unknown as Element
  const member = (of: Element, names: readonly string[]) =>
    names.map((name) => [...of.children].find(({ tagName }) => tagName === name)).find(Boolean)
  const wordsOfMember = (of: Element, ...names: string[]): string => {
    const found = member(of, names)
    const inner = found?.getAttribute('type') === 'xhtml' ? found.innerHTML : (found?.textContent ?? '')
    return inner ? textOf(documentOf(inner).documentElement, prose) : ''
  }
  const entries = [...root.querySelectorAll('item, entry')]
  const texts = entries.map((entry) => {
    const link = member(entry, ['link'])
    const address = link?.getAttribute('href') ?? link?.textContent?.trim() ?? ''
    const title = wordsOfMember(entry, 'title')
    return [`## ${title}`, wordsOfMember(entry, ...DATES), wordsOfMember(entry, ...TEXTS), address]
      .filter((line) => line && line !== '## ')
      .join('\n')
  })
  const head = member(root, ['channel']) ?? root
  const date = [...entries, head].map((one) => wordsOfMember(one, ...DATES)).find(Boolean)
  return { title: wordsOfMember(head, 'title') || null, text: texts.join('\n\n'), publishedAt: date ?? null }
}

/** Adds the html, head and body elements that a page may omit. The parser does not, and other code needs them. */
function documentOf(html: string): Document {
  const asWritten = parseHTML(html).document
  const document =
    asWritten.documentElement?.tagName === 'HTML' ? asWritten : parseHTML(`<html><body>${html}</body></html>`).document
  const root = document.documentElement
  const head = root.querySelector('head') ?? document.createElement('head')
  const body = root.querySelector('body') ?? document.createElement('body')
  for (const node of [...root.childNodes]) if (node !== head && node !== body) body.append(node)
  root.append(head, body)
  // Browsers show the content of these templates.
  for (const shadow of body.querySelectorAll('template[shadowrootmode], template[shadowroot]')) {
    const shown = document.createElement('div')
    shown.innerHTML = shadow.innerHTML
    shadow.replaceWith(shown)
  }
  for (const element of body.querySelectorAll(':scope > title, :scope > meta')) head.append(element)
  return document
}

/** The part of the DOM Node interface that reading text needs. */
type PageNode = {
  nodeType: number
  nodeName: string
  textContent: string | null
  id?: unknown
  className?: unknown
  parentNode: PageNode | null
  nextSibling: PageNode | null
  previousSibling: PageNode | null
  getAttribute?(name: string): string | null
  childNodes: Iterable<Node>
}

const TEXT = 3
const ELEMENT = 1
/** Elements whose text is not shown. `RT` and `RP` are the reading of a character, beside it. */
const SILENT = new Set(
  'SCRIPT STYLE NOSCRIPT TEMPLATE SVG IFRAME HEAD OBJECT BUTTON SELECT ANNOTATION RT RP ANNOTATION-XML'.split(' '),
)
const BLOCKS = new Set(
  `P DIV SECTION ARTICLE HEADER FOOTER MAIN ASIDE NAV UL OL LI DL DT DD TABLE TR BLOCKQUOTE PRE FIGURE
    FIGCAPTION FORM H1 H2 H3 H4 H5 H6 BR HR DETAILS SUMMARY ADDRESS CAPTION FIELDSET LEGEND DIALOG MENU`.split(/\s+/),
)

/** An element's text: one line per block, with marks for headings, list items and table cells. */
function textOf(element: unknown, prose: boolean, skips: (node: PageNode) => boolean = () => false): string {
  const pieces: string[] = []
  const counts = new Map<PageNode, number>()
  // Iterative, because an untrusted page may be nested deeper than the call stack allows.
  const stack: (PageNode | string)[] = [element as PageNode]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next === 'string') pieces.push(next)
    else if (next.nodeType === TEXT) pieces.push(wordsOf(next, prose))
    else if (next.nodeType === ELEMENT) {
      // `10<sup>6</sup>` is not 106.
      if (isPower(next) && /\d\s*$/.test(pieces.at(-1) ?? '')) pieces.push('^')
      if (!skips(next)) enter(next, stack, counts)
    }
  }
  // Trims every line except the indentation of preformatted text, and collapses runs of empty lines.
  const lines = pieces
    .join('')
    .split('\n')
    .map((line) => (/^(?: {2}|\t)\s*[^\s|]/.test(line) ? line.trimEnd() : line.trim()))
  const remaining = lines.filter((line, at) => line !== '' || (lines[at - 1] !== '' && at > 0))
  return remaining.join('\n').trim()
}

/** As browsers show it, where set text keeps its lines. Soft hyphens and places to break a word are no characters. */
function wordsOf({ textContent, parentNode }: PageNode, prose: boolean): string {
  const text = (textContent ?? '').replace(/[\u00ad\u200b\u2060\ufeff]/g, '')
  return !prose && isSet(parentNode) ? text : text.replace(/\s+/g, ' ')
}

/** Whether a node is inside a `pre`, possibly nested in elements for syntax highlighting. */
function isSet(node: PageNode | null): boolean {
  let up = node
  for (let depth = 0; up && depth < 4; depth++) {
    if (up.nodeName.toUpperCase() === 'PRE') return true
    up = up.parentNode
  }
  return false
}

/** Whether the element is a superscript whole number: a power or a note number. */
function isPower({ nodeName, childNodes }: PageNode): boolean {
  if (nodeName.toUpperCase() !== 'SUP') return false
  const [only, other] = childNodes
  return only?.nodeType === TEXT && !other && /^\s{0,3}[-−+]?\d{1,9}\s{0,3}$/.test(only.textContent ?? '')
}

/** The sign between the parts of a formula. */
const MATHS: Record<string, string> = { MFRAC: '/', MSUP: '^', MSUB: '_' }
const HOLDERS = /^(?:li|t[dh])$/i

/** Whether a node is at one side of a list item or a cell, alone or within wrappers. */
function isAtEdge(node: PageNode, side: 'nextSibling' | 'previousSibling'): boolean {
  let inner: PageNode | null = node
  for (let depth = 0; inner && depth < 4; depth++) {
    let next = inner[side]
    while (next && next.nodeType !== ELEMENT && !next.textContent?.trim()) next = next[side]
    inner = inner.parentNode
    if (next || HOLDERS.test(inner?.nodeName ?? '')) return !next
    if (inner?.nodeName.toUpperCase() !== 'DIV') return false
  }
  return false
}

function enter(node: PageNode, stack: (PageNode | string)[], counts: Map<PageNode, number>): void {
  const name = node.nodeName.toUpperCase()
  if (SILENT.has(name)) return
  // A paragraph that begins or ends a list item or a cell is on its line.
  const isInner = name === 'P' || name === 'DIV'
  const isBlock = BLOCKS.has(name)
  if (isBlock && !(isInner && isAtEdge(node, 'nextSibling'))) stack.push('\n')
  if (name === 'TD' || name === 'TH') stack.push(' | ')
  const children = [...node.childNodes].reverse()
  const sign = MATHS[name]
  // The spaces between the parts are formatting.
  if (sign)
    stack.push(
      ...children.filter(({ nodeType }) => nodeType === ELEMENT).flatMap((child, at) => (at ? [sign, child] : [child])),
    )
  else stack.push(...children)
  if (isBlock && !(isInner && isAtEdge(node, 'previousSibling')))
    stack.push(
      name === 'LI'
        ? `\n${markOf(node, counts)}`
        : /^H[1-6]$/.test(name)
          ? `\n\n${'#'.repeat(Number(name[1]))} `
          : '\n',
    )
}

answerTasks((query: PageQuery): PageAnswer => {
  const { title, text, publishedAt } = query.isFeed ? feedIn(query) : readable(query)
  const cut = { title: title && beginningOf(title, MAX_TITLE_CHARS), text: beginningOf(text, query.maxChars) }
  return { ...cut, publishedAt: publishedAt?.slice(0, MAX_DATE_CHARS) ?? null }
})
