/** Keywords of a trigger, looked for in many prompts. */
export type Keywords = { occurIn(prompt: Prompt): boolean }

/** A prompt and its words in small letters, which are gathered when they are first asked for. */
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
 * Whole words, in any case: `mail` does not match `email`. A text is searched only for keywords all of whose words it
 * has: with many skills of many keywords, searching for each would take as long as all of them times the text.
 */
export function readKeywords(keywords: readonly string[]): Keywords {
  const read = keywords
    .map((keyword) => keyword.trim())
    .filter(Boolean)
    .map((keyword) => ({ words: keyword.toLowerCase().match(WORDS) ?? [], pattern: patternOf(keyword) }))
  return {
    occurIn: (prompt) =>
      read.some(({ words, pattern }) => words.every((word) => prompt.words().has(word)) && pattern.test(prompt.text)),
  }
}

const patternOf = (keyword: string): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}])${keyword.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}(?![\\p{L}\\p{N}])`, 'iu')
