/** Splits text into sentences and content words, for search and summaries that need no model. */

/** The sentences of a text, in order and trimmed. A line break also ends a sentence. */
export const sentencesOf = (text: string): string[] =>
  text
    .split(/(?<=[.!?。！？])\s+|\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence))

const STOP = new Set(
  `a about above after again all also am an and any are as at be because been before being below between both but by can
   could did do does doing down during each few for from further had has have having he her here hers him his how i if in
   into is it its just me more most my no nor not now of off on once only or other our out over own please same she should
   so some such tell than that the their them then there these they this those through to too under until up us very was
   we were what when where which while who whom why will with would you your yours`.split(/\s+/),
)

/** Whether a lower-case English word is a stop word, such as `the` or `of`. */
export const isStopWord = (word: string): boolean => STOP.has(word)

/** Folds case for comparisons: `İ` becomes `i`, `ß` becomes `ss`, and a final sigma a normal one. */
export const folded = (text: string): string =>
  text
    .normalize('NFC')
    .toUpperCase()
    .toLowerCase()
    .replace(/i\u0307/g, 'i')
    .replaceAll('ς', 'σ')

/** Lower-case words without stop words. Cuts common endings, so that `orders` finds `order`. Keeps combining marks. */
export const contentWords = (text: string): string[] =>
  (folded(text).match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu) ?? []).filter((word) => !STOP.has(word)).map(stem)

const stem = (word: string): string => (word.length > 4 ? word.replace(/(?:ies|es|s|ed|ing)$/, '') : word)

/** The `count` sentences whose words recur most in the text, in text order. The earlier sentence wins a tie. */
export function centralSentences(sentences: readonly string[], count: number): string[] {
  const frequency = new Map<string, number>()
  for (const word of sentences.flatMap(contentWords)) frequency.set(word, (frequency.get(word) ?? 0) + 1)
  const score = (sentence: string): number => {
    const words = new Set(contentWords(sentence))
    const sum = [...words].reduce((total, word) => total + (frequency.get(word) ?? 0) - 1, 0)
    return sum / Math.sqrt(words.size + 4)
  }
  return sentences
    .map((sentence, at) => ({ sentence, at, score: score(sentence) }))
    .sort((a, b) => b.score - a.score || a.at - b.at)
    .slice(0, count)
    .sort((a, b) => a.at - b.at)
    .map(({ sentence }) => sentence)
}
