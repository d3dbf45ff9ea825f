/** Result for bytes that are not text: invalid UTF-8 or control characters. */
export const NO_TEXT = -1

/** Decodes UTF-8 byte by byte: the number of bytes still missing after this one, or {@link NO_TEXT}. */
export function missingAfter(byte: number, missing: number): number {
  if (missing > 0) return byte >>> 6 === 2 ? missing - 1 : NO_TEXT
  if (byte < 32) return byte === 9 || byte === 10 || byte === 13 ? 0 : NO_TEXT
  if (byte < 0x80) return 0
  if (byte < 0xc2 || byte > 0xf4) return NO_TEXT
  return byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3
}
