import { AppError } from './errors'

const MAX_DEPTH = 64
const MAX_NUMBER_CHARS = 32
/** A body of a million values would block the event loop for too long while it is parsed (I28). */
const MAX_VALUES = 100_000

const QUOTE = 0x22
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

const malformed = (message: string) => new AppError('invalid', 'validation_error', message)

/**
 * Parses an untrusted JSON body. Refuses what would stall the parser or cannot be stored: nesting over 64, numbers
 * over 32 characters, more than 100,000 values, bytes that are not UTF-8, NUL, unpaired surrogates (I28, B5–B11).
 * Throws 400 `validation_error`.
 */
export function parseUntrustedJson(bytes: Uint8Array): unknown {
  scan(bytes)
  const text = decode(bytes)
  try {
    return NEEDS_CARE.test(text) ? JSON.parse(text, refuseHostile) : JSON.parse(text)
  } catch (error) {
    if (error instanceof AppError) throw error
    throw malformed(`The body is not valid JSON: ${(error as Error).message.slice(0, 120)}`)
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

/** Reviver that drops `__proto__` keys and refuses text that no database can store (B5, B7, B14). */
function refuseHostile(this: unknown, key: string, value: unknown): unknown {
  if (key === '__proto__') return undefined
  assertStorable(key)
  if (typeof value === 'string') assertStorable(value)
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw malformed('The body holds a number too large to represent.')
  }
  return value
}

function assertStorable(text: string): void {
  if (text.includes('\0')) throw malformed('The body holds a NUL character, which cannot be stored. Remove it.')
  if (!text.isWellFormed()) {
    throw malformed('The body holds half of a surrogate pair, which is no character. Send both halves or neither.')
  }
}

function scan(bytes: Uint8Array): void {
  let depth = 0
  let numberLength = 0
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === QUOTE) {
      at = endOfString(bytes, at)
      numberLength = 0
      continue
    }
    const meaning = MEANING[byte]
    if (meaning === NUMERIC) {
      if (++numberLength > MAX_NUMBER_CHARS) {
        throw malformed(`The body holds a number of more than ${MAX_NUMBER_CHARS} characters.`)
      }
      continue
    }
    numberLength = 0
    if (meaning === OPENS && ++depth > MAX_DEPTH) {
      throw malformed(`The body is nested deeper than ${MAX_DEPTH} levels.`)
    }
    if (meaning === CLOSES) depth--
    if (meaning === SEPARATES && ++values > MAX_VALUES) {
      throw malformed(`The body holds more than ${MAX_VALUES} values. Split it.`)
    }
  }
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
