import { isUnseen } from '../injection/alphabet'
import { endOf, plainly } from '../plain'

/** A text as some program reads it; `span` maps offsets in it back to the source. */
export type View = { text: string; span(start: number, end: number): { start: number; end: number } }

/** Named character references that may stand in URLs, or are invisible, each before its character. */
const REFERENCES: Readonly<Record<string, string>> = Object.fromEntries(
  `colon: sol/ bsol\\ period. commat@ num# quest? percnt% amp& lsqb[ lbrack[ rsqb] rbrack] lpar( rpar) equals= hyphen-
   dash- quot" apos' lowbar_ Tab NewLine shy ZeroWidthSpace`
    .split(/\s+/)
    .map((one) => [one.match(/^\w*[a-z]/i)![0], one.replace(/^\w*[a-z]/i, '')]),
)
const NAMES = Object.keys(REFERENCES).join('|')
/** Character references of HTML and Markdown, and the backslash escapes of Markdown. */
const ESCAPES = new RegExp(`&#(?:x([0-9a-f]{1,6})|(\\d{1,7}));?|&(${NAMES});|\\\\([!-/:-@[-\`{-~])`, 'gi')
const HAS_ESCAPE = /&(?:#|[a-z]{2,14};)|\\[!-/:-@[-`{-~]/i
/** Attributes, in whose URLs browsers drop tabs and line ends; elsewhere these end a URL. */
const QUOTED = /[\w:-]\s{0,8}=\s{0,8}(?:"[^"]{0,4096}|'[^']{0,4096})/g
const BREAKS = /[\t\r\n]+/g

/**
 * The views of a text in which URLs are searched: as it stands, with look-alike characters made plain, and with the
 * escapes that renderers resolve before they read a URL.
 */
export function viewsOf(source: string): View[] {
  const asItStands: View = { text: source, span: (start, end) => ({ start, end: endOf(source, end - 1) }) }
  const rendered = resolved(source)
  return rendered ? [...alsoPlain(asItStands), ...alsoPlain(rendered)] : alsoPlain(asItStands)
}

function alsoPlain(view: View): View[] {
  const plain = plainly(view.text)
  if (plain.text === view.text) return [view]
  const span: View['span'] = (start, end) => {
    const inside = plain.span(start, end)
    return view.span(inside.start, inside.end)
  }
  return [view, { text: plain.text, span }]
}

type Piece = { start: number; end: number; text: string }

/** With escapes and line breaks resolved; null where there are none. */
function resolved(source: string): View | null {
  const pieces = [...(HAS_ESCAPE.test(source) ? escapesIn(source) : []), ...breaksIn(source)]
  if (!pieces.length) return null
  const at = new Int32Array(source.length + 1)
  let text = ''
  let done = 0
  const copy = (until: number) => {
    for (let place = done; place < until; place++) at[text.length + place - done] = place
    text += source.slice(done, until)
  }
  for (const { start, end, text: meant } of pieces.sort((a, b) => a.start - b.start)) {
    if (start < done) continue
    copy(start)
    at.fill(start, text.length, text.length + meant.length)
    text += meant
    done = end
  }
  copy(source.length)
  const ends = new Map(pieces.map(({ start, end }) => [start, end]))
  const span: View['span'] = (start, end) => {
    const last = at[end - 1]!
    return { start: at[start]!, end: ends.get(last) ?? endOf(source, last) }
  }
  return text === source ? null : { text, span }
}

const escapesIn = (source: string): Piece[] =>
  Array.from(source.matchAll(ESCAPES), ({ 0: whole, 1: hex, 2: digits, 3: name, 4: sign, index }) => ({
    start: index,
    end: index + whole.length,
    text: sign ?? (name ? (REFERENCES[name] ?? REFERENCES[name.toLowerCase()] ?? whole) : lettered(hex, digits, whole)),
  }))

function lettered(hex: string | undefined, digits: string | undefined, whole: string): string {
  const code = hex ? Number.parseInt(hex, 16) : Number(digits)
  if (code === 9 || code === 10 || code === 13) return ''
  return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole
}

const breaksIn = (source: string): Piece[] =>
  /[\t\r\n]/.test(source) && source.includes('=')
    ? Array.from(source.matchAll(QUOTED)).flatMap(({ 0: whole, index }) =>
        Array.from(whole.matchAll(BREAKS), ({ 0: gap, index: inside }) => ({
          start: index + inside,
          end: index + inside + gap.length,
          text: '',
        })),
      )
    : []

const LONG_FILLING = 32

/**
 * Whether a long run of invisible characters begins at `place`. A URL may go on behind it, which cannot be known while
 * the text is still being streamed.
 */
export function isFilled(text: string, place: number): boolean {
  if (text.length - place < LONG_FILLING) return false
  for (let at = place; at < place + LONG_FILLING; at++) {
    const code = text.charCodeAt(at)
    const isBreak = code === 9 || code === 10 || code === 13
    if (!isBreak && !isUnseen(code) && !(code >= 0xdb40 && code < 0xdfff)) return false
  }
  return true
}
