/** Converts HTML and footnotes in Markdown to plain Markdown. */

/** Maximum columns of an HTML table. */
const MAX_COLUMNS = 100

/** Numbers of the footnotes by name. */
export type Notes = { numbers: ReadonlyMap<string, number> }

/** A reference to a footnote. */
export const NOTED = /^\[\^([^\]\s]{1,60})\]/
const NOTE = /^ {0,3}\[\^([^\]\s]{1,60})\]:(.*)$/
/** A line with nothing but wrapper tags. */
const WRAPPERS = /^[ \t]*(?:<\/?(?:div|p|center|details|section|figure|span|ul|ol)(?:\s[^<>]*)?>[ \t]*)+$/i
/** Alert marks above a quote, as on GitHub. */
const REMARK = /^([ \t]*(?:>[ \t]*)+)\[!([a-z]{2,20})\][ \t]*$/i

/**
 * Converts the HTML of whole lines (tables, comments, headings, wrappers) to Markdown, and appends the footnotes.
 * Leaves code unchanged.
 */
export function plainer(markdown: string): { text: string } & Notes {
  const lines: string[] = []
  const notes = new Map<string, string[]>()
  let fence = ''
  let note: string[] | undefined
  const endless = new Set<string>()
  const all = markdown.split('\n')
  for (let at = 0; at < all.length; at++) {
    const line = all[at]!
    const [mark = ''] = /^[ \t>]*(?:`{3,}(?!.*`)|~{3,})/.exec(line) ?? []
    if (mark) fence = fence ? (mark.trim().startsWith(fence) ? '' : fence) : mark.replace(/[\s>]/g, '')
    if (fence || mark) {
      lines.push(line)
      continue
    }
    const [, name, words] = NOTE.exec(line) ?? []
    const isMore = note && (/^(?: {2,}|\t)\S/.test(line) || (!line.trim() && /^(?: {4}|\t)/.test(all[at + 1] ?? '')))
    if (name !== undefined) {
      note = [words!]
      notes.set(name, note)
    } else if (isMore) note!.push(line.trim())
    else {
      note = undefined
      const [begin] = /^ {0,3}<(?:table\b|!--)/i.exec(line) ?? []
      const last = begin?.endsWith('-') ? /-->[ \t]*$/ : /<\/table>[ \t]*$/i
      // If an end tag is missing, it is searched for only once.
      const end = begin && !endless.has(last.source) ? all.findIndex((one, place) => place >= at && last.test(one)) : -1
      if (begin && end < 0) endless.add(last.source)
      if (end < 0) lines.push(WRAPPERS.test(line) ? '' : lineOf(line))
      else if (!begin!.endsWith('-')) lines.push('', ...htmlTable(all.slice(at, end + 1).join(' ')), '')
      at = Math.max(at, end)
    }
  }
  const names = [...new Set([...lines.join('\n').matchAll(/\[\^([^\]\s]{1,60})\]/g)].map(([, name]) => name!))]
  const known = [...new Set([...names, ...notes.keys()])].filter((name) => notes.has(name))
  const below = known.map((name, at) => `<sup>${at + 1}</sup> ${notes.get(name)!.join(' ').trim()}`)
  const text = [lines.join('\n'), ...(below.length ? ['---', ...below] : [])].join('\n\n')
  return { text, numbers: new Map(known.map((name, at) => [name, at + 1])) }
}

/** Converts a line of HTML to Markdown. A list in a table row becomes lines of its cell. */
const lineOf = (line: string): string =>
  (/^ {0,3}\|/.test(line) && /<\/li>/i.test(line) ? line.split('|').map(inCell).join('|') : line)
    .replace(
      REMARK,
      (_, before: string, kind: string) => `${before}**${kind[0]!.toUpperCase()}${kind.slice(1).toLowerCase()}**\\`,
    )
    .replace(
      /^[ \t]*(?:<(?:details|div|center|p)(?:\s[^<>]*)?>[ \t]*)*<(summary|h[1-6])(?:\s[^<>]*)?>(.*?)<\/\1>[ \t]*(?:<\/\w+>[ \t]*)*$/i,
      (_, tag: string, words: string) =>
        tag.toLowerCase() === 'summary'
          ? `\n**${words.trim()}**\n`
          : `\n${'#'.repeat(Number(tag[1]))} ${words.trim()}\n`,
    )
    .replace(/^[ \t]*<li(?:\s[^<>]*)?>(.*)$/i, (_, words: string) => `- ${words.trim().replace(/<\/li>$/i, '')}`)
    .replace(/^[ \t]*<p(?:\s[^<>]*)?>(.*?)<\/p>[ \t]*$/i, '\n$1\n')
    .replace(/^[ \t]*<hr ?\/?>[ \t]*$/i, '\n---\n')

/** Converts the blocks of a cell to lines. List items get a mark. */
const inCell = (html: string): string =>
  html
    .replace(/<li(?:\s[^<>]*)?>/gi, '<br>• ')
    .replace(/<\/?(?:p|div|h[1-6]|ul|ol)(?:\s[^<>]*)?>/gi, '<br>')
    .replace(/<\/li>/gi, '')
    .split(/<br ?\/?>/i)
    .map((line) => line.trim())
    .filter(Boolean)
    .join('<br>')

/** Converts an HTML table to Markdown. A cell that spans several columns or rows is followed by empty cells. */
function htmlTable(html: string): string[] {
  const rows: string[][] = []
  let taken: number[] = []
  for (const [, row = ''] of html.matchAll(/<tr[\s>]([\s\S]*?)(?=<tr[\s>]|<\/tr>|<\/table>)/gi)) {
    const cells: string[] = []
    const next: number[] = []
    const free = () => {
      for (; taken[cells.length]; cells.push('')) next[cells.length] = taken[cells.length]! - 1
    }
    for (const [, about = '', words = ''] of row.matchAll(
      /<t[hd]((?:\s[^<>]*)?)>([\s\S]*?)(?=<t[hd][\s>]|<\/t[hd]>|$)/gi,
    )) {
      const spans = [...about.matchAll(/\b(col|row)span=["']?(\d{1,3})/gi)]
      const spanOf = (direction: string) =>
        Number(spans.findLast(([, name]) => name!.toLowerCase() === direction)?.[2] ?? 1)
      free()
      for (let column = 0; column < spanOf('col') && cells.length < MAX_COLUMNS; column++) {
        next[cells.length] = spanOf('row') - 1
        cells.push(column ? '' : inCell(words.replaceAll('|', '\\|').replace(/\s+/g, ' ')))
      }
    }
    free()
    taken = next
    if (cells.length) rows.push(cells)
  }
  const width = Math.max(0, ...rows.map(({ length }) => length))
  const [head, ...body] = rows.map(
    (row) => `| ${Array.from({ length: width }, (_, at) => row[at] ?? '').join(' | ')} |`,
  )
  return head ? [head, `|${' --- |'.repeat(width)}`, ...body] : []
}

export type Script = 'sub' | 'sup'
const SCRIPTS: Record<Script, string> = { sup: '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ', sub: '₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙᵢ' }

/** Converts text to superscript or subscript characters if all exist. Otherwise puts `^` or `_` before the text. */
export function scripted(text: string, script: Script): string {
  const signs = [...text.replace(/[\u2212\u2013]/g, '-')].map(
    (sign) => SCRIPTS[script]['0123456789+-=()ni'.indexOf(sign)],
  )
  if (signs.every((sign) => sign !== undefined)) return signs.join('')
  // Ordinals, as in “4th”, need no mark.
  if (script === 'sup' && /^(?:st|nd|rd|th|er|e|o|a)$/.test(text)) return text
  return (script === 'sup' ? '^' : '_') + (/^[\p{L}\p{N}.]*$/u.test(text) ? text : `(${text})`)
}
