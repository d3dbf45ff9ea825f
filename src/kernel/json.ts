import { AppError, invalidInput } from './errors'

const MAX_DEPTH = 64
const MAX_NUMBER_CHARS = 32
/** Whole numbers with fewer digits never lose any. */
const LARGE_CHARS = 16
/** Parsing a body of a million values would block the event loop for too long (docs/promises.md I28). */
const MAX_VALUES = 100_000
/** This many numbers of a list, such as the tokens of texts, parse as fast as one other value. */
const NUMBERS_A_VALUE = 4

const QUOTE = 0x22
const SPACE = 0x20
const BACKSLASH = 0x5c
const OPENS = 1
const CLOSES = 2
const NUMERIC = 3
const SEPARATES = 4

/** The meaning of each byte outside a string. A table, because the scan visits every byte of every body. */
const MEANING = new Uint8Array(256)
for (const char of '{[') MEANING[char.charCodeAt(0)] = OPENS
for (const char of '}]') MEANING[char.charCodeAt(0)] = CLOSES
MEANING[','.charCodeAt(0)] = SEPARATES
for (const char of '0123456789+-.eE') MEANING[char.charCodeAt(0)] = NUMERIC

/** Only a text that matches can contain a bad key, a NUL, an unpaired surrogate or an overflowing number. */
const NEEDS_CARE = /__proto__|\\u|\d[eE]/

const malformed = (message: string, param?: string) =>
  new AppError('validation_error', message, param === undefined ? {} : { param })

/** The value of a JSON text. Undefined if it is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** How to handle a whole number whose digits a double cannot keep, such as 9007199254740993. */
type Large = 'refused' | 'text'

/**
 * Parses an untrusted JSON body. Rejects content that would stall the parser or cannot be stored: nesting over 64,
 * numbers over 32 characters, more than 100,000 values (400,000 in lists of numbers), bytes that are not UTF-8, NUL,
 * unpaired surrogates (docs/promises.md I28, docs/attacks.md B5–B11). Rejects a whole number that would lose digits,
 * naming its path. With `large: 'text'`, for answers of others, such a number becomes the text of its digits. Throws
 * 400 `validation_error`.
 */
export function parseUntrustedJson(bytes: Uint8Array, { large = 'refused' }: { large?: Large } = {}): unknown {
  const changed = scan(bytes)
  const text = large === 'text' ? quoted(bytes, changed) : decode(bytes)
  try {
    if (changed.length && large === 'refused') {
      const path = pathTo(MARK, JSON.parse(quoted(bytes, [changed[0]!], MARK)))
      throw refusedAt(
        path,
        'is a whole number with too many digits to be exact. Send it as a string.',
        'A number of the body',
      )
    }
    return NEEDS_CARE.test(text) ? parseCarefully(text) : JSON.parse(text)
  } catch (error) {
    if (error instanceof AppError) throw error
    const why = (error as Error).message.replace('JSON Parse error: ', '').slice(0, 120)
    throw malformed(`The body is not valid JSON: ${why}.`)
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw malformed('The body is not valid UTF-8. Send JSON encoded as UTF-8.')
  }
}

/**
 * Parses a text that needs care: drops `__proto__` keys, and rejects values that no database can store (docs/attacks.md
 * B5, B7, B14), naming their path.
 */
function parseCarefully(text: string): unknown {
  let unstorable: { value: string; why: string } | undefined
  const whole = JSON.parse(text, (key, value) => {
    if (key === '__proto__') return undefined
    const why = unstorableBy(key)
    if (why) throw malformed(`The body ${why}`)
    if (typeof value === 'number' && !Number.isFinite(value))
      throw malformed('The body contains a number that is too large to represent.')
    const problem = typeof value === 'string' && unstorableBy(value)
    if (problem) unstorable ??= { value, why: problem }
    return value
  })
  if (unstorable) throw refusedAt(pathTo(unstorable.value, whole), unstorable.why, 'The body')
  return whole
}

function unstorableBy(text: string): string | null {
  if (text.includes('\0')) return 'contains a NUL character, which cannot be stored. Remove it.'
  if (text.isWellFormed()) return null
  return 'contains half of a surrogate pair, which is not a character. Send both halves or neither.'
}

/** Position of a number in the bytes. */
type Span = [from: number, to: number]

/** Rejects hostile content, and returns the numbers that would lose digits. */
function scan(bytes: Uint8Array): Span[] {
  const changed: Span[] = []
  let depth = 0
  let numberLength = 0
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    const meaning = MEANING[byte]
    if (meaning === NUMERIC) {
      if (++numberLength > MAX_NUMBER_CHARS) {
        throw malformed(`The body contains a number of more than ${MAX_NUMBER_CHARS} characters.`, memberAt(bytes, at))
      }
      continue
    }
    if (numberLength >= LARGE_CHARS) noteChanged(at - numberLength, at)
    numberLength = 0
    if (byte === QUOTE) at = endOfString(bytes, at)
    if (meaning === OPENS && ++depth > MAX_DEPTH) {
      throw malformed(`The body is nested deeper than ${MAX_DEPTH} levels.`, memberAt(bytes, at))
    }
    if (meaning === CLOSES) depth--
    if (meaning === SEPARATES) {
      // In an object, the name of the next member would follow instead.
      const isNumber = MEANING[bytes[at + (bytes[at + 1] === SPACE ? 2 : 1)]!] === NUMERIC
      values += isNumber ? 1 / NUMBERS_A_VALUE : 1
    }
    if (values > MAX_VALUES) {
      throw malformed(`The body contains more than ${MAX_VALUES} values. Split it.`, memberAt(bytes, at))
    }
  }
  if (numberLength >= LARGE_CHARS) noteChanged(bytes.length - numberLength, bytes.length)
  return changed

  function noteChanged(from: number, to: number): void {
    // Notes a whole number that is written with other digits after parsing.
    const written = String.fromCharCode(...bytes.subarray(from, to))
    const exact = digitsOf(written)
    const read = Number(written)
    if (exact !== null && exact.power >= 0 && Number.isFinite(read) && exact.digits !== digitsOf(String(read))?.digits)
      changed.push([from, to])
  }
}

/** The member of the body that contains a byte, for errors found before parsing. */
function memberAt(bytes: Uint8Array, end: number): string | undefined {
  let depth = 0
  let member: Span | null = null
  for (let at = 0; at < end; at++) {
    const meaning = MEANING[bytes[at]!]
    if (meaning === OPENS) depth += 1
    if (meaning === CLOSES) depth -= 1
    if (bytes[at] !== QUOTE) continue
    const from = at
    at = endOfString(bytes, at)
    const isName = depth === 1 && /^\s*:/.test(String.fromCharCode(...bytes.subarray(at + 1, at + 16)))
    if (isName) member = [from + 1, at]
  }
  if (!member || member[1] - member[0] > MAX_PATH_CHARS) return undefined
  const name = Buffer.from(bytes.subarray(...member)).toString()
  return /^[\w.-]+$/.test(name) ? name : undefined
}

/** The digits of a number without zeros at both ends, and the power of ten of the last. Null if not a number. */
function digitsOf(written: string): { digits: string; power: number } | null {
  const [, whole, part = '', power = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(written) ?? []
  if (whole === undefined) return null
  const all = `${whole}${part}`
  let end = all.length
  while (all[end - 1] === '0') end -= 1
  return { digits: all.slice(0, end).replace(/^0+/, ''), power: Number(power) - part.length + all.length - end }
}

/** The text with some of its numbers in quotes, or each replaced by `instead`. */
function quoted(bytes: Uint8Array, spans: readonly Span[], instead?: string): string {
  let [text, done] = ['', 0]
  for (const [from, to] of spans) {
    text += `${decode(bytes.subarray(done, from))}"${instead ?? decode(bytes.subarray(from, to))}"`
    done = to
  }
  return text + decode(bytes.subarray(done))
}

/** Longer paths do not help the reader. */
const MAX_PATH_CHARS = 300
/** Placeholder that no storable text equals. */
const MARK = '\udfff'

/** A problem with the value at a path, or with `unplaced` if no useful path is known. */
const refusedAt = (path: string | null, problem: string, unplaced: string): AppError =>
  path && path.length <= MAX_PATH_CHARS
    ? invalidInput(path, `"${path}" ${problem}`)
    : malformed(`${unplaced} ${problem}`)

/** The path of a value as in code, such as `list[2].id`. Null if the value is not found. */
function pathTo(wanted: unknown, value: unknown): string | null {
  if (value === wanted) return ''
  if (typeof value !== 'object' || value === null) return null
  for (const [name, member] of Object.entries(value)) {
    const rest = pathTo(wanted, member)
    if (rest === null) continue
    const first = Array.isArray(value) ? `[${name}]` : name
    return rest === '' || rest.startsWith('[') ? `${first}${rest}` : `${first}.${rest}`
  }
  return null
}

/** Finds the closing quote with the native search, so that a 15 MiB image in base64 costs no more than a copy. */
function endOfString(bytes: Uint8Array, start: number): number {
  let end = bytes.indexOf(QUOTE, start + 1)
  while (end !== -1 && isEscaped(bytes, end)) end = bytes.indexOf(QUOTE, end + 1)
  return end === -1 ? bytes.length : end
}

function isEscaped(bytes: Uint8Array, quote: number): boolean {
  let backslashes = 0
  while (bytes[quote - 1 - backslashes] === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}
