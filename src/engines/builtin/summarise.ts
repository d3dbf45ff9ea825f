import { centralSentences, sentencesOf } from '../../text'
import type { Skill } from './question'
import { readNumber } from './words'

const REQUEST =
  /\b(?:summari[sz]e|summary|tl;?dr|shorten|condense|key (?:points?|sentences?)|main (?:points?|ideas?)|gist)\b/i
const DEFAULT_SENTENCES = 3
const SHORT = 2

/** The most central sentences of a supplied text, quoted verbatim and in order, so that nothing is invented. */
export const summarise: Skill = ({ task, material }) => {
  if (!REQUEST.test(task) || !material) return null
  const sentences = sentencesOf(material)
  if (sentences.length <= SHORT) return `The text is already short: ${sentences.join(' ')}`
  const match = /\b(\w+)\s+(?:bullet\s+)?(?:sentences?|points?|lines?|bullets?)\b/i.exec(task)
  const count = match ? readNumber(match[1]!) : null
  const chosen = centralSentences(sentences, Math.min(Math.max(count ?? DEFAULT_SENTENCES, 1), sentences.length))
  return `The most central sentences of your text, quoted:\n\n${chosen.map((sentence) => `- ${sentence}`).join('\n')}`
}
