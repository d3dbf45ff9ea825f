/** A part of a text, `start <= at < end`, in UTF-16 units. */
export type TextSpan = { start: number; end: number }
