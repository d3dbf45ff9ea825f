import { isUnseen } from './injection/alphabet'
import { endOf, plainly } from './plain'
import type { TextSpan } from './schema'
import { hostIn, isNamed, isNumbered } from './urls-host'

/** The authority and following part of a URL. `host` is null if it is not a URL, and empty if the host is unknown. */
type Address = { authority: string; host: string | null; end: number }

/** Longer than any host with credentials. A longer authority counts as an unknown host. */
const MAX_AUTHORITY = 512

const MAX_ENCODED = 1_024

const MAX_DECODED = 4

const AUTHORITY = /[^\s<\\/?#]{0,513}/uy

const ENCODED_REST = /[^\s<>"'`&]*/uy

const PATH = /[^\s<>"'`|^{}[\]]*/uy

/** Most programs end an authority at these signs. Browsers continue if more of the authority follows. */
const USUAL = /^(?:[^>"'`|^{}[\]]*@)?(?:\[[^\s>"'[\]]*\]?)?[^>"'`|^{}[\]]*/u

const GOES_ON = /^(?!\]\().*(?:@|\.[\p{L}\p{N}])/su

/** A URL ends where the quote or bracket around it closes. */
const CLOSED_BY: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '`': '`',
  '<': '>',
  '[': ']',
  '{': '}',
  '|': '|',
  '=': '>',
}

const ENDS = /(?<![.,;:!?)\]}*_~'"’”»…。，、）」\p{Cf}])[.,;:!?)\]}*_~'"’”»…。，、）」\p{Cf}]+$/u

const END = /[.,;:!?)\]}*_~'"’”»…。，、）」\p{Cf}]/u

/** A template variable. */
const TO_FILL = /\$?\{[\w.]{1,64}\}/g

const FILLED = /^x(?::(?:x|\d+))?$/

const trimmed = (authority: string): string =>
  authority.replace(ENDS, (signs) => (signs.startsWith(']') && authority.includes('[') ? ']' : ''))

/** A text as some program reads it. `span` maps its offsets back to the source. */
type View = { text: string; span(start: number, end: number): { start: number; end: number } }

/** Named character references that may be in URLs or are invisible, each before its character. */
const REFERENCES: Readonly<Record<string, string>> = Object.fromEntries(
  `colon: sol/ bsol\\ period. commat@ num# quest? percnt% amp& lsqb[ lbrack[ rsqb] rbrack] lpar( rpar) equals= hyphen-
   dash- quot" apos' lowbar_ Tab NewLine shy ZeroWidthSpace`
    .split(/\s+/)
    .map((one) => [one.match(/^\w*[a-z]/i)![0], one.replace(/^\w*[a-z]/i, '')]),
)

const VIEWS_NAMES = Object.keys(REFERENCES).join('|')

/** Character references of HTML and Markdown, and the backslash escapes of Markdown. */
const ESCAPES = new RegExp(`&#(?:x([0-9a-f]{1,6})|(\\d{1,7}));?|&(${VIEWS_NAMES});|\\\\([!-/:-@[-\`{-~])`, 'gi')

const HAS_ESCAPE = /&(?:#|[a-z]{2,14};)|\\[!-/:-@[-`{-~]/i

/** Quoted attributes. In their URLs browsers drop tabs and line ends, which end a URL elsewhere. */
const QUOTED = /[\w:-]\s{0,8}=\s{0,8}(?:"[^"]{0,4096}|'[^']{0,4096})/g

const BREAKS = /[\t\r\n]+/g

type Piece = { start: number; end: number; text: string }

const escapesIn = (source: string): Piece[] =>
  Array.from(source.matchAll(ESCAPES), ({ 0: whole, 1: hex, 2: digits, 3: name, 4: sign, index }) => ({
    start: index,
    end: index + whole.length,
    text: sign ?? (name ? (REFERENCES[name] ?? REFERENCES[name.toLowerCase()] ?? whole) : lettered(hex, digits, whole)),
  }))

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

/** Labels and a top-level domain. Captures the beginning of the following path or bracket: hosts may be in it, too. */
const HOST =
  /(?<![\p{L}\p{N}@/\\.:_-])(?:[\p{L}\p{N}_](?:[\p{L}\p{N}\p{M}_-]{0,61}[\p{L}\p{N}\p{M}_])?[.。．｡]){1,126}(?:\p{L}[\p{L}\p{M}]{1,23}|xn--[a-z0-9-]{2,50})(?=(?::\d{2,5})?([/?#(][^\s<>"'`]{0,256})?)(?!\.?[\p{L}\p{N}_@-])/giu

const IPV4 = /(?<![\w.@/\\:-])(?:\d{1,3}\.){3}\d{1,3}(?=(?::\d{2,5})?(\/[^\s<>"'`]{1,256}))/g

/** The prefix length of a network: `/24`. */
const BITS = /^\/\d{1,2}(?![\w/?#.-]*[\w/?#-])/

/** Top-level domains that mark a name without scheme and path as a host. Files and members do not end with them. */
const COMMON =
  /^(?:com|org|net|info|biz|edu|gov|io|dev|app|ai|co|xyz|online|site|shop|store|club|top|live|link|click|cloud|tv|uk|de|fr|es|nl|pl|ru|cn|jp|br|eu|ch|se|dk|fi|pt|gr|cz|ca|au|nz|kr|tr|ua|za|mx|tk|gq|ml|ga|cf|рф|中国|example)$/i

/** Top-level domains that are also file extensions. */
const FILES = /^(?:rs|sh|py|md|pl|zip|so|cc|mk|ps|tf|in|am|ac|mov|java)$/i

/** Usual names of files with such an extension. */
const FILE_NAMES =
  /^(?:_.*|.*_.*|main|lib|mod|index|init|setup|install|uninstall|build|run|test|tests|start|stop|deploy|release|config|configure|makefile|makevars|utils?|helpers?|app|server|client|readme|changelog|license|contributing|security|script|example|entrypoint|bootstrap|manage|types|models?|views?|urls?|admin|cli|core|common|docs?|todo|notes|guide|error|errors|system|archive|backup|conftest|variables|outputs)$/i

/** Products with names like hosts. */
const NAMES = /^(?:asp\.net|vb\.net|ado\.net|socket\.io|node\.js|next\.js)$/i

/** A host in the text from `start` to `at`. `host` is the form that browsers compare. */
type Bare = { start: number; at: number; host: string }

/*
 * Hand-written, because a linkifier finds what people write and not what browsers follow. On
 * tests/guardrails/urls.test.ts linkify-it passes 101 of 165 (it lacks escapes, `//host`, numeric hosts, user names
 * before an @). Used for hosts without a scheme only, it passes 155, taking `main.rs/x` and `list.sort/list.filter` for
 * hosts.
 */

/** A URL in a text, and the host a browser would contact, in the form that browsers compare. Empty when unknown. */
type FoundUrl = TextSpan & { host: string }

/** After these, browsers accept any number of slashes of either kind, or none. */
const WEB = /(?<![a-z0-9])(?:https?|wss?|ftp|file):[/\\]*/giu

const OTHER_SCHEME = /(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,31}:\/\/+/giu

/** `//host`, which takes the scheme of the page. After a colon only in the target of a Markdown reference. */
const SCHEME_RELATIVE = /(?<![\w/\\]|(?<!\]):)[/\\]{2,}(?=[^\s/\\<>"'`])/gu

const ENCODED = /(?:(?<![a-z0-9])(?:https?|wss?|ftp)(?:%(?:25){0,3}3a|:)|(?<![\w%]))(?:%(?:25){0,3}(?:2f|5c)){2,}/giu

/** URLs that contain a page or a program, which may fetch from anywhere. */
const ACTIVE_CONTENT =
  /(?<![\w:])(?:data:(?:text\/(?:html|xml|javascript)|image\/svg\+xml|application\/(?:xhtml\+xml|xml|(?:x-)?javascript))[;,]|(?:java|vb)script:(?=\S))/giu

/** Places where a renderer treats the following text as a URL. */
const BEFORE_TARGET =
  /(?:\]\(|\]:|\burl\(|\b(?:href|src|srcset|poster|action|formaction|data|background|ping|cite|manifest)\s{0,4}=)\s{0,4}["'<]?$/iu

const TARGET_REACH = 24

const IS_WEB = /^(?:https?|wss?|ftp|file):/i

/** Whether it can only be a host. `//1` is a footnote, `http:80` a port. */
const tellsHost = ({ host, authority }: Address): boolean =>
  !!host && (isNamed(host) || (isNumbered(host) && /^\[|(?:\.\d+){3}(?::\d+)?$/.test(authority)))

/** Finds URLs in a text, in any escaped or disguised form, of hosts that `isAllowed` does not accept. */
export function urlsBut(text: string, isAllowed: (host: string) => boolean): TextSpan[] {
  // The views of a text in which URLs are searched: unchanged, with look-alike characters made plain, and with the
  // escapes resolved that renderers resolve before they read a URL.
  const asItStands: View = { text, span: (start, end) => ({ start, end: endOf(text, end - 1) }) }
  const rendered = resolved(text)
  const views = [...alsoPlain(asItStands), ...(rendered ? alsoPlain(rendered) : [])]
  const foreign = views.flatMap((view) =>
    findUrls(view.text).flatMap(({ start, end, host }) => {
      const covered = view.span(start, end)
      return isAllowed(host) && !isFilled(text, covered.end) ? [] : [covered]
    }),
  )
  return merged(foreign)
}

/** Sorted and merged, because several views find the same address, and one may be in another's query. */
function merged(spans: readonly TextSpan[]): TextSpan[] {
  const stored: TextSpan[] = []
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    const last = stored.at(-1)
    if (!last || last.end <= start) stored.push({ start, end })
    else last.end = Math.max(last.end, end)
  }
  return stored
}

/**
 * Every URL in a text that a browser or a Markdown renderer would fetch or link: with any scheme, scheme-relative
 * (`//host`), inside another's query, percent-encoded, or without a scheme if `www`, a path or a common top-level
 * domain marks a host. `data:` URLs if they contain a page or a program. Not found: single labels and single numbers
 * without a scheme, names that look like files (`main.rs/x`), mail addresses, and hosts that code assembles. Linear.
 */
function findUrls(text: string): FoundUrl[] {
  const found: FoundUrl[] = []
  const read = createReader(text)
  const isTarget = (at: number) => BEFORE_TARGET.test(text.slice(Math.max(0, at - TARGET_REACH), at))
  const add = (start: number, { end, host }: Address) => {
    if (host !== null) found.push({ start, end, host })
  }
  for (const { 0: scheme, index } of text.matchAll(WEB)) {
    const address = read(index, index + scheme.length)
    if (/^file/i.test(scheme)) add(index, asFile(scheme, address))
    else if (/[/\\]$/.test(scheme) || isTarget(index) || tellsHost(address)) add(index, address)
  }
  for (const { 0: scheme, index } of text.matchAll(OTHER_SCHEME)) {
    if (!IS_WEB.test(scheme)) add(index, read(index, index + scheme.length))
  }
  for (const { 0: slashes, index } of text.matchAll(SCHEME_RELATIVE)) {
    const address = read(index, index + slashes.length)
    if (tellsHost(address) || isTarget(index)) add(index, address)
  }
  for (const { 0: before, index } of text.includes('%') ? text.matchAll(ENCODED) : []) {
    const address = read.encoded(index, index + before.length)
    if (!before.startsWith('%') || tellsHost(address)) add(index, address)
  }
  for (const { 0: scheme, index } of text.matchAll(ACTIVE_CONTENT)) {
    if (/^data/i.test(scheme) || isTarget(index)) add(index, { end: read.shown(index), host: '', authority: '' })
  }
  for (const { start, at, host } of bareHosts(text)) add(start, { end: read.shown(at), host, authority: host })
  return found
}

/** `file:` names a host after exactly two slashes. With fewer it is a path, with more it is on this machine. */
function asFile(scheme: string, address: Address): Address {
  const slashes = scheme.length - 'file:'.length
  if (slashes < 2) return { ...address, host: null }
  return slashes === 2 ? address : { ...address, host: '' }
}

/** Hosts without a scheme: after `www`, before a path, or with a common top-level domain. */
function bareHosts(text: string): Bare[] {
  const found: Bare[] = []
  for (const { 0: host, 1: path = '', index } of text.matchAll(HOST)) {
    const address = hostIn(host)
    if (address && isHost(host, address, path)) found.push({ start: index, at: index + host.length, host: address })
  }
  for (const { 0: host, 1: path, index } of text.matchAll(IPV4)) {
    const address = hostIn(host)
    if (address && !BITS.test(path!)) found.push({ start: index, at: index + host.length, host: address })
  }
  return found
}

function isHost(host: string, address: string, path: string): boolean {
  if (/^www[.。．｡]/i.test(host)) return true
  if (NAMES.test(host)) return false
  const labels = host.split(/[.。．｡]/)
  if (!/^(?:\/.|[?#][^=]*=)/.test(path)) {
    // `name.member(` is a call in code.
    return !path.startsWith('(') && COMMON.test(labels.at(-1)!) && host === host.toLowerCase()
  }
  return isNamed(address) && (!FILES.test(labels.at(-1)!) || !FILE_NAMES.test(labels.at(-2)!))
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

/** The text with escapes and line breaks resolved. Null when there are none. */
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

function lettered(hex: string | undefined, digits: string | undefined, whole: string): string {
  const code = hex ? Number.parseInt(hex, 16) : Number(digits)
  if (code === 9 || code === 10 || code === 13) return ''
  return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole
}

/**
 * Whether a long run of invisible characters begins at `place`. A URL may continue after it, which is unknown while the
 * text is still being streamed.
 */
function isFilled(text: string, place: number): boolean {
  if (text.length - place < LONG_FILLING) return false
  for (let at = place; at < place + LONG_FILLING; at++) {
    const code = text.charCodeAt(at)
    const isBreak = code === 9 || code === 10 || code === 13
    if (!isBreak && !isUnseen(code) && !(code >= 0xdb40 && code < 0xdfff)) return false
  }
  return true
}

/** Reads the URLs of one text. `start` is the start of a URL, `at` the start of its authority. */
function createReader(text: string) {
  let run = { start: 0, end: -1 }
  return Object.assign(read, { encoded, shown })

  function read(start: number, at: number): Address {
    const whole = within(text, start, upTo(AUTHORITY, at))
    if (whole.length > MAX_AUTHORITY) return { authority: whole, host: '', end: shown(at + whole.length) }
    const filled = whole.replace(TO_FILL, 'x')
    if (filled !== whole && FILLED.test(filled.replace(ENDS, ''))) return { authority: whole, host: null, end: at }
    const usual = USUAL.exec(filled)![0]
    if (GOES_ON.test(filled.slice(usual.length))) return { authority: whole, host: '', end: shown(at + whole.length) }
    const after = filled === whole ? at + usual.length : at + whole.length
    const isLast = !/[\\/?#]/.test(text[after] ?? '')
    const authority = isLast ? trimmed(usual) : usual
    const end = isLast ? at + trimmed(text.slice(at, after)).length : shown(after)
    // With a backslash followed by an @, programs disagree on the host.
    return {
      authority,
      host:
        text[after] === '\\' && /^[^\s"'<>]*@/.test(text.slice(after, after + MAX_AUTHORITY)) ? '' : known(authority),
      end,
    }
  }

  /** Like `read`, for a URL whose slashes are written `%2F`. */
  function encoded(start: number, at: number): Address {
    const end = at + upTo(ENCODED_REST, at).length
    const authority = trimmed(/^[^\\/?#]*/.exec(decoded(text.slice(at, Math.min(end, at + MAX_ENCODED))))![0])
    return { authority, host: known(authority), end: shown(Math.max(start, at)) }
  }

  /** The end of a URL whose path begins at `at`, without the sentence's punctuation. */
  function shown(at: number): number {
    if (at < run.start || at > run.end) run = { start: at, end: at + upTo(PATH, at).length }
    let { end } = run
    while (end > at && END.test(text[end - 1]!)) end--
    return end
  }

  function upTo(sticky: RegExp, at: number): string {
    sticky.lastIndex = at
    return sticky.exec(text)?.[0] ?? ''
  }
}

/** The authority up to the closing bracket or quote around the URL. */
function within(text: string, start: number, authority: string): string {
  const opener = text[start - 1] ?? ''
  if (opener === '(' && text[start - 2] === ']') return authority.slice(0, endOfTarget(authority))
  const closer = CLOSED_BY[opener]
  // A literal IPv6 address contains brackets itself.
  const from = closer === ']' && authority.includes('[') ? authority.indexOf(']') + 1 : 0
  const end = closer ? authority.indexOf(closer, from) : -1
  return end < 0 ? authority : authority.slice(0, end)
}

/** The target of a Markdown link ends at the first bracket that it did not open. */
function endOfTarget(authority: string): number {
  let depth = 0
  for (let at = 0; at < authority.length; at++) {
    if (authority[at] === '(') depth++
    if (authority[at] === ')' && --depth < 0) return at
  }
  return authority.length
}

/** Null for text that cannot be a host, such as three dots. */
function known(authority: string): string | null {
  const host = hostIn(authority)
  if (host) return /[\p{L}\p{N}[]/u.test(host) ? host : null
  return /[\p{L}\p{N}]/u.test(authority) ? '' : null
}

function decoded(piece: string): string {
  let text = piece
  for (let turn = 0; turn < MAX_DECODED && text.includes('%'); turn++) {
    try {
      text = decodeURIComponent(text)
    } catch {
      return text
    }
  }
  return text
}
