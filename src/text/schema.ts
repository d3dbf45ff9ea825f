/** The longest pattern that a rule may have, in UTF-16 units (docs/api.md 13). */
export const MAX_PATTERN_CHARS = 512

/** UTF-16 offsets of what was found. `kind` is what is in its mark, `[REDACTED:<kind>]`. */
export type Match = TextSpan & { kind: string }

/** A part of a text, `start <= at < end`, in UTF-16 units. */
export type TextSpan = { start: number; end: number }
