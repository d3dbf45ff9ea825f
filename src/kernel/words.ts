/** Texts as sentences and as words that carry meaning: for finding and for summing up, without a model. */

/** Sentences of a text, in order, each trimmed; lines that are no sentences count as ones. */
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

/** Whether an English word, in small letters, only holds others together. */
export const isStopWord = (word: string): boolean => STOP.has(word)

/** Lower-case words that carry meaning, crudely cut to their stem so that `orders` finds `order`. */
export const contentWords = (text: string): string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !STOP.has(word)).map(stem)

const stem = (word: string): string => (word.length > 4 ? word.replace(/(?:ies|es|s|ed|ing)$/, '') : word)

/** Sentences whose words recur most through the text; earlier ones win a tie. */
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
