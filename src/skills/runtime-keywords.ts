/** The compiled keywords of a trigger. */
export type Keywords = { occurIn(prompt: Prompt): boolean }

/** A prompt with its lower-case words, which are collected on first use. */
export type Prompt = { text: string; words(): ReadonlySet<string> }

export function readPrompt(text: string): Prompt {
  let words: ReadonlySet<string> | undefined
  return {
    text,
    words() {
      words ??= new Set(text.toLowerCase().match(WORDS))
      return words
    },
  }
}

const WORDS = /[\p{L}\p{N}]+/gu

/**
 * Matches whole words in any case: `mail` does not match `email`. A pattern is only run when the prompt has all words
 * of the keyword, because running all patterns of many skills would be slow.
 */
export function readKeywords(keywords: readonly string[]): Keywords {
  const read = keywords
    .map((keyword) => keyword.trim())
    .filter(Boolean)
    .map((keyword) => ({
      words: keyword.toLowerCase().match(WORDS) ?? [],
      pattern: new RegExp(
        `(?<![\\p{L}\\p{N}])${keyword.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}(?![\\p{L}\\p{N}])`,
        'iu',
      ),
    }))
  return {
    occurIn: (prompt) =>
      read.some(({ words, pattern }) => words.every((word) => prompt.words().has(word)) && pattern.test(prompt.text)),
  }
}
