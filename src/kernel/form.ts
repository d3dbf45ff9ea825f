const request = new Map<string, string>()

/**
 * A pattern of a schema with what it asks for in words: error messages say these in place of the pattern
 * (docs/operating.md 6.1). The words follow "it must be".
 */
export function form(pattern: string, words: string): string {
  request.set(pattern, words)
  return pattern
}

/** What a pattern asks for in words, or null when nobody said so. */
export const wordsOf = (pattern: string): string | null => request.get(pattern) ?? null
