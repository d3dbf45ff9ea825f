import MarkdownIt, { type Token } from 'markdown-it'
import { xmlText } from '../../kernel/text'
import { NOTED, type Notes, plainer, type Script, scripted } from './blocks-html'
import type { Align, Block, Heading, List, Span, Table, Text } from './blocks-model'
import { readChart } from './charts'

/** HTML is text, except for common tags. Nothing is fetched: pictures keep only their address. */
const reader = new MarkdownIt('default', { html: false, linkify: true, typographer: false })
// `readme.md` and `example.com` may be names, but an address with its scheme is a link.
reader.linkify.set({ fuzzyLink: false, fuzzyEmail: false })

/** Inline tags and their styles. */
const TAGS: Readonly<Record<string, Style & { script?: Script }>> = {
  ...{ b: { bold: true }, strong: { bold: true }, i: { italic: true }, em: { italic: true }, s: { strike: true } },
  ...{ del: { strike: true }, code: { code: true }, kbd: { code: true }, samp: { code: true }, u: {}, ins: {} },
  ...{ mark: {}, small: {}, span: {}, a: {}, sub: { script: 'sub' }, sup: { script: 'sup' } },
}
/** Maximum length of a tag with its content. A longer one is text. */
const MAX_MARKED = 500

// A line break, a comment, an image, or text between a tag and its end tag.
reader.inline.ruler.before('html_inline', 'tags', (state, silent) => {
  const near = state.src.slice(state.pos, Math.min(state.posMax, state.pos + MAX_MARKED))
  const [skipped, isBreak] = /^(?:<br ?\/?>[ \n]*()|<!--[\s\S]*?-->)/i.exec(near) ?? []
  if (skipped) {
    if (!silent && isBreak !== undefined) state.push('hardbreak', 'br', 0)
    state.pos += skipped.length
    return true
  }
  const picture = /^<img\s[^<>]+>/i.exec(near)?.[0]
  if (picture) {
    if (!silent) {
      const token = state.push('image', 'img', 0)
      token.attrs = [['src', attributeIn(picture, 'src')]]
      token.content = attributeIn(picture, 'alt')
    }
    state.pos += picture.length
    return true
  }
  const [begin, name = ''] = /^<([a-z]{1,6})(?:\s[^<>]{0,200})?>/i.exec(near) ?? []
  const tag = name.toLowerCase()
  const length = begin && TAGS[tag] ? near.toLowerCase().indexOf(`</${tag}>`) : -1
  if (!begin || length < 0) return false
  const [start, end] = [state.pos, state.posMax]
  if (!silent) {
    state.push('tag_open', tag, 1).attrs = [['href', attributeIn(begin, 'href')]]
    state.pos += begin.length
    state.posMax = start + length
    state.md.inline.tokenize(state)
    state.push('tag_close', tag, -1)
  }
  state.pos = start + length + tag.length + 3
  state.posMax = end
  return true
})

/** The value of a quoted attribute, or an empty string. */
const attributeIn = (tag: string, wanted: string): string =>
  [...tag.matchAll(/\s([a-z]+)=(?:"([^"]*)"|'([^']*)')/gi)]
    .flatMap(([, name, ...value]) => (name!.toLowerCase() === wanted ? value : []))
    .join('')

// `2*3*4` is a product, and the stars emphasize nothing.
reader.inline.ruler.before('emphasis', 'product', (state, silent) => {
  if (!/^\d\*\d/.test(state.src.slice(Math.max(0, state.pos - 1), state.pos + 2))) return false
  if (!silent) state.pending += '*'
  state.pos++
  return true
})

// Replaces a reference to a footnote by its number.
reader.inline.ruler.before('link', 'note', (state, silent) => {
  const [whole, name = ''] = NOTED.exec(state.src.slice(state.pos, state.pos + 64)) ?? []
  const number = (state.env as Partial<Notes>).numbers?.get(name)
  if (!whole || !number) return false
  if (!silent) state.push('text', '', 0).content = scripted(String(number), 'sup')
  state.pos += whole.length
  return true
})

// A task list item with a check box.
reader.core.ruler.push('tasks', ({ tokens }) => {
  for (const [at, token] of tokens.entries()) {
    const [first] = token.children ?? []
    if (token.type !== 'inline' || tokens[at - 2]?.type !== 'list_item_open' || first?.type !== 'text') continue
    first.content = first.content.replace(/^\[[ xX]\] /, (box) => (box[1] === ' ' ? '☐ ' : '☑ '))
  }
})

// Runs once for all formats, after references such as `&#7;` are decoded.
reader.core.ruler.push('xml_text', ({ tokens }) => tokens.forEach(keepText))

function keepText(token: Token): void {
  token.content = xmlText(token.content)
  token.children?.forEach(keepText)
}

/** Maximum number of blocks in a document. */
const MAX_BLOCKS = 5_000
const LINK = /^(https?:\/\/|mailto:)/i

/** Parses Markdown (CommonMark, tables, strike-through) into blocks. A `chart` fence is a chart (docs/api.md 6). */
export function readMarkdown(markdown: string): Block[] {
  const { text, ...notes } = plainer(withoutFrontMatter(markdown).text)
  return blocksOf(createCursor(reader.parse(text, notes)))
}

const FRONT_MATTER =
  /^\ufeff?---[ \t]*\n((?:[\w-]{1,40}:[^\n]{0,1000}\n|[ \t][^\n]{0,1000}\n|-[ \t][^\n]{0,1000}\n){1,60})---[ \t]*(?:\n|$)/

/** Removes front matter between lines of `---`, and returns its title. */
export function withoutFrontMatter(markdown: string): { title: string | null; text: string } {
  const [head = '', members = ''] = FRONT_MATTER.exec(markdown) ?? []
  const title = /^title:[ \t]*["']?(.{1,200}?)["']?[ \t]*$/m.exec(members)?.[1] ?? null
  return { title, text: markdown.slice(head.length).trimStart() || markdown }
}

type Cursor = { peek(): Token | undefined; next(): Token; count(): number }

function createCursor(tokens: readonly Token[]): Cursor {
  let at = 0
  let made = 0
  return {
    peek: () => tokens[at],
    next: () => tokens[at++]!,
    count: () => ++made,
  }
}

/** Blocks up to and including the end token of the enclosing block. */
function blocksOf(cursor: Cursor, until?: string): Block[] {
  const blocks: Block[] = []
  for (;;) {
    if (!cursor.peek()) return blocks
    const token = cursor.next()
    if (token.type === until) return blocks
    const made = blockOf(token, cursor)
    if (cursor.count() <= MAX_BLOCKS) blocks.push(...made)
  }
}

function blockOf(token: Token, cursor: Cursor): Block[] {
  switch (token.type) {
    case 'heading_open':
      return [
        {
          type: 'heading',
          level: Math.min(4, Number(token.tag.slice(1))) as Heading['level'],
          text: textUntil(cursor, 'heading_close'),
        },
      ]
    case 'paragraph_open':
      return paragraphs(inlineUntil(cursor, 'paragraph_close'))
    case 'bullet_list_open':
      return [listOf(cursor, 'bullet_list_close', { ordered: false, start: 1 })]
    case 'ordered_list_open': {
      const start = Number(token.attrGet('start') ?? 1)
      return [listOf(cursor, 'ordered_list_close', { ordered: true, start })]
    }
    case 'table_open':
      return tableOf(cursor)
    case 'blockquote_open':
      return [{ type: 'quote', blocks: blocksOf(cursor, 'blockquote_close') }]
    case 'fence':
    case 'code_block':
      return [codeOf(token)]
    case 'hr':
      return [{ type: 'rule' }]
    default:
      return []
  }
}

function codeOf({ content, info }: Token): Block {
  const [word = ''] = info.trim().split(/\s+/)
  const chart = word.toLowerCase() === 'chart' ? readChart(content) : null
  return chart ?? { type: 'code', text: content.replace(/\n$/, ''), language: word || null }
}

function listOf(cursor: Cursor, end: string, about: { ordered: boolean; start: number }): List {
  const items: Block[][] = []
  while (cursor.peek() && cursor.next().type !== end) items.push(blocksOf(cursor, 'list_item_close'))
  return { type: 'list', ...about, items }
}

/** Rows have as many cells as the header, as the parser ensures. */
function tableOf(cursor: Cursor): Block[] {
  const rows: Text[][] = []
  const align: Align[] = []
  for (;;) {
    const token = cursor.peek() && cursor.next()
    if (!token || token.type === 'table_close') break
    if (token.type === 'tr_open') rows.push([])
    if (token.type !== 'th_open' && token.type !== 'td_open') continue
    if (token.type === 'th_open') {
      const style = attributeOf(token, 'style')
      align.push(style.includes('right') ? 'right' : style.includes('center') ? 'center' : 'left')
    }
    rows.at(-1)?.push(textUntil(cursor, token.type.replace('open', 'close')))
  }
  const [header, ...body] = rows
  return header ? [{ type: 'table', header, rows: body, align } satisfies Table] : []
}

const attributeOf = (token: Token, name: string): string => String(token.attrGet(name) ?? '')

/** The inline tokens up to the end token of their block. */
function inlineUntil(cursor: Cursor, end: string): Token[] {
  const inline: Token[] = []
  while (cursor.peek()) {
    const token = cursor.next()
    if (token.type === end) break
    inline.push(...(token.children ?? []))
  }
  return inline
}

/** A picture in a heading or a cell becomes its description. */
const textUntil = (cursor: Cursor, end: string): Text =>
  merged(spansOf(inlineUntil(cursor, end)).map((part) => ('source' in part ? { text: part.text } : part)))

/** Splits a paragraph into text and pictures, because each picture is a block of its own. */
function paragraphs(inline: readonly Token[]): Block[] {
  const blocks: Block[] = []
  let text: Span[] = []
  const flush = () => {
    const spans = trimmed(merged(text))
    if (spans.length) blocks.push({ type: 'paragraph', text: spans })
    text = []
  }
  for (const part of spansOf(inline)) {
    if ('source' in part) {
      flush()
      blocks.push({ type: 'image', source: part.source, alt: part.text })
    } else text.push(part)
  }
  flush()
  return blocks
}

type Style = Omit<Span, 'text'> & { script?: Script }
type Part = Span | { source: string; text: string }

function spansOf(inline: readonly Token[]): Part[] {
  const parts: Part[] = []
  const styles: Style[] = [{}]
  const push = (text: string) => {
    const { script, ...style } = styles.at(-1)!
    parts.push({ text: script ? scripted(text, script) : text, ...style })
  }
  for (const token of inline) {
    switch (token.type) {
      case 'text':
      case 'html_inline':
        push(oneSpace(token.content))
        break
      case 'code_inline':
        parts.push({ text: oneSpace(token.content), ...styles.at(-1)!, code: true })
        break
      case 'softbreak':
        push(' ')
        break
      case 'hardbreak':
        push('\n')
        break
      case 'image':
        parts.push({ source: attributeOf(token, 'src'), text: token.content })
        break
      default:
        if (token.nesting === 1) styles.push({ ...styles.at(-1), ...styleOf(token) })
        else if (token.nesting === -1 && styles.length > 1) styles.pop()
    }
  }
  return parts
}

/** Collapses spaces, as browsers do. */
const oneSpace = (text: string): string => text.replace(/[ \t]+/g, ' ')

function styleOf(token: Token): Style {
  switch (token.type) {
    case 'strong_open':
      return { bold: true }
    case 'em_open':
      return { italic: true }
    case 's_open':
      return { strike: true }
    case 'tag_open':
    case 'link_open': {
      if (token.tag !== 'a') return TAGS[token.tag]!
      const link = attributeOf(token, 'href')
      return LINK.test(link) ? { link } : {}
    }
    default:
      return {}
  }
}

/** Merges adjacent spans of the same style. */
function merged(spans: readonly Span[]): Span[] {
  const found: Span[] = []
  for (const span of spans) {
    const last = found.at(-1)
    if (last && JSON.stringify({ ...last, text: '' }) === JSON.stringify({ ...span, text: '' })) {
      found[found.length - 1] = { ...last, text: last.text + span.text }
    } else if (span.text) found.push(span)
  }
  return found
}

function trimmed(spans: readonly Span[]): Span[] {
  const last = spans.length - 1
  return spans
    .map((span, at) => {
      const start = at === 0 ? span.text.trimStart() : span.text
      return { ...span, text: at === last ? start.trimEnd() : start }
    })
    .filter(({ text }) => text)
}
