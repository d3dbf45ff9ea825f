/** The longest pattern that a rule may have, in UTF-16 units (docs/api.md 13). */
export const MAX_PATTERN_CHARS = 512

/** UTF-16 offsets of what was found. `kind` is what is in its mark, `[REDACTED:<kind>]`. */
export type Match = { start: number; end: number; kind: string }
