import type { Skill } from './question'
import { contentWords, readNumber, sentencesOf } from './words'

const ASKED =
  /\b(?:summari[sz]e|summary|tl;?dr|shorten|condense|key (?:points?|sentences?)|main (?:points?|ideas?)|gist)\b/i
const DEFAULT_SENTENCES = 3
const SHORT = 2

/** The most central sentences of a supplied text, quoted in their order: nothing is reworded, so nothing is made up. */
export const summarise: Skill = ({ task, material }) => {
  if (!ASKED.test(task) || !material) return null
  const sentences = sentencesOf(material)
  if (sentences.length <= SHORT) return `The text is already short: ${sentences.join(' ')}`
  const chosen = centralSentences(sentences, wanted(task, sentences.length))
  return `The most central sentences of your text, quoted:\n\n${chosen.map((sentence) => `- ${sentence}`).join('\n')}`
}

function wanted(task: string, available: number): number {
  const asked = /\b(\w+)\s+(?:bullet\s+)?(?:sentences?|points?|lines?|bullets?)\b/i.exec(task)
  const count = asked ? readNumber(asked[1]!) : null
  return Math.min(Math.max(count ?? DEFAULT_SENTENCES, 1), available)
}

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
