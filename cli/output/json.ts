export type JsonObject = Record<string, unknown>

/** Characters that JSON leaves unescaped but terminals may act on: 8-bit controls, bidi marks, line separators. */
const RISKY = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

/** JSON with those characters escaped. No data is lost, and the text cannot control a terminal. */
export const safeJson = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, null, indent) ?? 'null').replace(
    RISKY,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** The value of a JSON text. Undefined when it is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
