/** Maximum length of a rule's pattern, in UTF-16 units (docs/api.md 13). */
export const MAX_PATTERN_CHARS = 512

/** UTF-16 offsets of a finding. `kind` is the name in its mark, `[REDACTED:<kind>]`. */
export type Match = TextSpan & { kind: string }

/** A part of a text, `start <= at < end`, in UTF-16 units. */
export type TextSpan = { start: number; end: number }
