import { hostIn } from './host'

/** A URL from its authority on. `host` is null when it is no URL, and empty when the host cannot be known. */
export type Address = { authority: string; host: string | null; end: number }

/** Longer than any host with credentials: what is longer still gets an unknown host. */
const MOST_AUTHORITY = 512
const MOST_ENCODED = 1_024
const MOST_DECODED = 4

const AUTHORITY = /[^\s<\\/?#]{0,513}/uy
const ENCODED_REST = /[^\s<>"'`&]*/uy
const PATH = /[^\s<>"'`|^{}[\]]*/uy
/** Most programs end an authority at these signs; browsers go on when more of it follows. */
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

/** Reads the URLs of one text. `start` is where a URL begins, `at` where its authority does. */
export function createReader(text: string) {
  let run = { start: 0, end: -1 }
  return Object.assign(read, { encoded, shown })

  function read(start: number, at: number): Address {
    const whole = within(text, start, upTo(AUTHORITY, at))
    if (whole.length > MOST_AUTHORITY) return { authority: whole, host: '', end: shown(at + whole.length) }
    const filled = whole.replace(TO_FILL, 'x')
    if (filled !== whole && FILLED.test(filled.replace(ENDS, ''))) return { authority: whole, host: null, end: at }
    const usual = USUAL.exec(filled)![0]
    if (GOES_ON.test(filled.slice(usual.length))) return { authority: whole, host: '', end: shown(at + whole.length) }
    const after = filled === whole ? at + usual.length : at + whole.length
    const isLast = !/[\\/?#]/.test(text[after] ?? '')
    const authority = isLast ? trimmed(usual) : usual
    const end = isLast ? at + trimmed(text.slice(at, after)).length : shown(after)
    return { authority, host: isDisputed(after) ? '' : known(authority), end }
  }

  /** The same for a URL whose slashes are written `%2F`. */
  function encoded(start: number, at: number): Address {
    const end = at + upTo(ENCODED_REST, at).length
    const authority = trimmed(/^[^\\/?#]*/.exec(decoded(text.slice(at, Math.min(end, at + MOST_ENCODED))))![0])
    return { authority, host: known(authority), end: shown(Math.max(start, at)) }
  }

  /** Where the URL ends whose path begins at `at`, without punctuation of the sentence. */
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

  /** With a backslash and an @ behind it, programs disagree on the host. */
  function isDisputed(after: number): boolean {
    return text[after] === '\\' && /^[^\s"'<>]*@/.test(text.slice(after, after + MOST_AUTHORITY))
  }
}

/** The authority up to where the bracket or quote around the URL closes. */
function within(text: string, start: number, authority: string): string {
  const opener = text[start - 1] ?? ''
  if (opener === '(' && text[start - 2] === ']') return authority.slice(0, endOfTarget(authority))
  const closer = CLOSED_BY[opener]
  // A literal IPv6 address has a bracket of its own.
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

const trimmed = (authority: string): string =>
  authority.replace(ENDS, (signs) => (signs.startsWith(']') && authority.includes('[') ? ']' : ''))

/** Null for what cannot be a host, such as three dots. */
function known(authority: string): string | null {
  const host = hostIn(authority)
  if (host) return /[\p{L}\p{N}[]/u.test(host) ? host : null
  return /[\p{L}\p{N}]/u.test(authority) ? '' : null
}

function decoded(piece: string): string {
  let text = piece
  for (let turn = 0; turn < MOST_DECODED && text.includes('%'); turn++) {
    try {
      text = decodeURIComponent(text)
    } catch {
      return text
    }
  }
  return text
}
