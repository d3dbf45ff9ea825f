import { type RunValues, valueAt } from './evaluate'
import { type Path, parsePath } from './expression'

/** A text with the places to fill: `Dear {{trigger.name}}!` is `['Dear ', {path}, '!']`. */
type Part = string | { path: Path; text: string }

/** The most characters that filling one value in may make. */
const MAX_FILLED_CHARS = 1_000_000

/** A template that became too large when it was filled in. */
export class TooMuchText extends Error {
  override name = 'TooMuchText'
}

/** The paths in a text's placeholders; braces that do not close are text. Throws ExpressionFault. */
export const placeholdersOf = (text: string): Path[] =>
  partsOf(text).flatMap((part) => (typeof part === 'string' ? [] : [part.path]))

/** Visits all texts of a value, keys aside. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}

/**
 * Fills a value's texts in (contract 10). A placeholder that is a whole text keeps the type of its value; within a text
 * it is written out, and percent-encoded in the path, query and fragment of a URL. A missing one is empty, and `missing`
 * is told its name. Throws TooMuchText.
 */
export function fillIn<Value>(value: Value, values: RunValues, missing: (name: string) => void): Value {
  let left = MAX_FILLED_CHARS
  return filled(value) as Value

  function filled(part: unknown): unknown {
    if (typeof part === 'string') return filledText(part)
    if (Array.isArray(part)) return part.map(filled)
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(Object.entries(part).map(([name, member]) => [name, filled(member)]))
  }

  function filledText(text: string): unknown {
    const parts = partsOf(text)
    const [only] = parts
    if (parts.length === 1 && only !== undefined && typeof only !== 'string') {
      const found = lookUp(only)
      if (typeof found !== 'string') take(JSON.stringify(found).length)
      else take(found.length)
      return found
    }
    const isUrl = URL_TEXT.test(parts.map((part) => (typeof part === 'string' ? part : '{}')).join(''))
    let whole = ''
    let hasLiteral = false
    for (const part of parts) {
      const piece = typeof part === 'string' ? part : pieceOf(part, isUrl && hasLiteral && HAS_ORIGIN.test(whole))
      hasLiteral ||= typeof part === 'string'
      take(piece.length)
      whole += piece
    }
    return whole
  }

  function pieceOf(part: Exclude<Part, string>, isEncoded: boolean): string {
    const text = written(lookUp(part))
    // What is too long is refused before it is made longer.
    return isEncoded && text.length <= left ? encodeURIComponent(text.toWellFormed()) : text
  }

  function lookUp({ path, text }: Exclude<Part, string>): unknown {
    const found = valueAt(values, path)
    if (found === undefined) missing(text)
    return found ?? ''
  }

  function take(chars: number): void {
    left -= chars
    if (left < 0) throw new TooMuchText(`filled in, it is longer than ${MAX_FILLED_CHARS} characters`)
  }
}

/** A whole text that is a URL; placeholders at its begin are its origin, or all before a query. */
const URL_TEXT = /^(?:https?:\/\/|(?:\{\})+[/?#])\S*$/i
const HAS_ORIGIN = /^https?:\/\/[^/?#]{1,1000}[/?#]/i

/** A value as text: JSON for all but texts, nothing for null. */
export const written = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value)

function partsOf(text: string): Part[] {
  const parts: Part[] = []
  let at = 0
  for (let open = text.indexOf('{{'); open >= 0; open = text.indexOf('{{', at)) {
    const close = text.indexOf('}}', open + 2)
    if (close < 0) break
    if (open > at) parts.push(text.slice(at, open))
    const inner = text.slice(open + 2, close)
    parts.push({ path: parsePath(inner), text: inner.trim() })
    at = close + 2
  }
  if (at < text.length) parts.push(text.slice(at))
  return parts
}
