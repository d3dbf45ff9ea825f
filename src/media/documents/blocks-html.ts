/** HTML, footnotes and formulas in Markdown, as Markdown without. */

/** Most columns of a table in HTML. */
const MAX_COLUMNS = 100

/** What number each note has. */
export type Notes = { numbers: ReadonlyMap<string, number> }

/** Names a note in the text. */
export const NOTED = /^\[\^([^\]\s]{1,60})\]/
const NOTE = /^ {0,3}\[\^([^\]\s]{1,60})\]:(.*)$/
/** A line of nothing but tags that only lay out what they enclose. */
const WRAPPERS = /^[ \t]*(?:<\/?(?:div|p|center|details|section|figure|span|ul|ol)(?:\s[^<>]*)?>[ \t]*)+$/i
/** Marks of GitHub and others above a remark. */
const REMARK = /^([ \t]*(?:>[ \t]*)+)\[!([a-z]{2,20})\][ \t]*$/i

/**
 * Markdown whose HTML of whole lines (tables, comments, headings, wrappers) is Markdown too, with its footnotes below
 * it. Code stays as it is.
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
      // What nothing ends is searched for once.
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

/** A line of HTML that Markdown has a word for; a list in a row of a table has lines in its cell. */
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

/** The blocks of a cell as lines of it, those of a list with a mark. */
const inCell = (html: string): string =>
  html
    .replace(/<li(?:\s[^<>]*)?>/gi, '<br>• ')
    .replace(/<\/?(?:p|div|h[1-6]|ul|ol)(?:\s[^<>]*)?>/gi, '<br>')
    .replace(/<\/li>/gi, '')
    .split(/<br ?\/?>/i)
    .map((line) => line.trim())
    .filter(Boolean)
    .join('<br>')

/** A table in HTML as one in Markdown: a cell over several columns or rows is followed by empty ones. */
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
      const spanOf = (way: string) => Number(spans.findLast(([, name]) => name!.toLowerCase() === way)?.[2] ?? 1)
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

/** Raised or lowered signs where there are such for all of a text; else it stays as it is, behind its mark. */
export function scripted(text: string, script: Script): string {
  const signs = [...text.replace(/[\u2212\u2013]/g, '-')].map(
    (sign) => SCRIPTS[script]['0123456789+-=()ni'.indexOf(sign)],
  )
  if (signs.every((sign) => sign !== undefined)) return signs.join('')
  // As in the 4th.
  if (script === 'sup' && /^(?:st|nd|rd|th|er|e|o|a)$/.test(text)) return text
  return (script === 'sup' ? '^' : '_') + alone(text)
}

const alone = (text: string): string => (/^[\p{L}\p{N}.]*$/u.test(text) ? text : `(${text})`)

const SYMBOLS: ReadonlyMap<string, string> = new Map(
  (
    'alpha:α beta:β gamma:γ delta:δ epsilon:ε varepsilon:ε zeta:ζ eta:η theta:θ iota:ι kappa:κ lambda:λ mu:μ nu:ν ' +
    'xi:ξ pi:π rho:ρ sigma:σ tau:τ upsilon:υ phi:φ varphi:φ chi:χ psi:ψ omega:ω Gamma:Γ Delta:Δ Theta:Θ ' +
    'Lambda:Λ Xi:Ξ Pi:Π Sigma:Σ Phi:Φ Psi:Ψ Omega:Ω times:× cdot:· div:÷ pm:± mp:∓ le:≤ leq:≤ ' +
    'ge:≥ geq:≥ ne:≠ neq:≠ approx:≈ sim:∼ equiv:≡ propto:∝ infty:∞ partial:∂ nabla:∇ sum:∑ prod:∏ int:∫ ' +
    'oint:∮ to:→ rightarrow:→ leftarrow:← Rightarrow:⇒ implies:⇒ iff:⇔ leftrightarrow:↔ mapsto:↦ in:∈ notin:∉ subset:⊂ subseteq:⊆ cup:∪ ' +
    'cap:∩ emptyset:∅ forall:∀ exists:∃ neg:¬ land:∧ lor:∨ ldots:… dots:… cdots:⋯ degree:° circ:° prime:′ angle:∠ ' +
    'perp:⊥ parallel:∥ ll:≪ gg:≫ langle:⟨ rangle:⟩ hbar:ℏ ell:ℓ mid:| vert:| lvert:| rvert:| '
  )
    .trim()
    .split(' ')
    .map((pair) => pair.split(':') as [string, string]),
)
const NAMES =
  /^(?:sin|cos|tan|cot|log|ln|exp|lim|max|min|sup|inf|det|dim|gcd|mod|arg|sinh|cosh|tanh|arcsin|arccos|arctan)$/
const INNER = /^(?:text|mathrm|mathbf|mathit|mathsf|mathcal|mathbb|boldsymbol|operatorname|textbf|textit|mbox)$/
const LOOKS = /^(?:left|right|big|Big|bigg|Bigg|displaystyle|limits|nonumber)$/
const ACCENTS: Readonly<Record<string, string>> = {
  hat: '\u0302',
  bar: '\u0304',
  overline: '\u0304',
  vec: '\u20d7',
  tilde: '\u0303',
  dot: '\u0307',
}

/** A formula in TeX in one line of plain signs; null for one with a command that has none. */
export function formulaOf(tex: string): string | null {
  let at = 0
  let isKnown = true
  const until = (end: string): string => {
    let text = ''
    while (at < tex.length && tex[at] !== end) text += atom()
    at += 1
    return text
  }
  const group = (): string => {
    while (tex[at] === ' ') at += 1
    return atom()
  }
  const command = (): string => {
    const name = /^(?:[a-zA-Z]+|[^a-zA-Z])/.exec(tex.slice(at, at + 40))?.[0] ?? ''
    at += name.length
    if (/^[dt]?frac$/.test(name)) return `${alone(group())}/${alone(group())}`
    if (name === 'sqrt') return `√${alone(group())}`
    if (INNER.test(name)) return group()
    if (ACCENTS[name]) return group() + ACCENTS[name]
    if (name === 'begin' || name === 'end') return group() && ' '
    if (LOOKS.test(name) || name === '!') return ''
    if (/^(?:[,;: \\]|q?quad)$/.test(name)) return ' '
    if (NAMES.test(name)) return `${name} `
    if (/^[{}%$_&#|]$/.test(name)) return name
    const symbol = SYMBOLS.get(name)
    isKnown &&= symbol !== undefined
    return symbol ?? ''
  }
  const atom = (): string => {
    const sign = tex[at++] ?? ''
    if (sign === '{') return until('}')
    if (sign === '\\') return command()
    if (sign === '^' || sign === '_') return scripted(group().trim(), sign === '^' ? 'sup' : 'sub')
    return sign === '&' || sign === '~' || sign === '\n' ? ' ' : sign
  }
  const text = until('').replace(/\s+/g, ' ').trim()
  return isKnown ? text : null
}
