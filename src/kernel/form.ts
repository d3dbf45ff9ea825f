const descriptions = new Map<string, string>()

/**
 * Registers a schema pattern with a description, which error messages show in place of the pattern (docs/operating.md
 * 6.1). The words follow "it must be".
 */
export function form(pattern: string, words: string): string {
  descriptions.set(pattern, words)
  return pattern
}

/** The description of a pattern, or null if none is registered. */
export const wordsOf = (pattern: string): string | null => descriptions.get(pattern) ?? null
