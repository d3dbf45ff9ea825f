import { fencedParts } from '../kernel/fence'
import { contentWords, sentencesOf } from '../text'
import type { Question, Skill } from './question'

type Passage = { text: string; from: string }

const MAX_PASSAGES = 5_000
const MAX_QUOTES = 3
/** Share of the question's content words that a quotation must contain. */
const ENOUGH = 0.6

/**
 * Answers a question by quoting the sentences with most of its words: from the text in the prompt, from this
 * conversation, or from the instructions. Every quotation names where it comes from.
 */
export const retrieve: Skill = (question) => {
  const asked = askedSentence(question)
  const words = [...new Set(contentWords(asked.replace(/^.*\bquestion\s*:/i, '')))]
  if (words.length === 0) return null
  for (const passages of [fromMaterial(question, asked), fromConversation(question), fromInstructions(question)]) {
    const quotes = bestQuotes(words, passages)
    if (quotes.length > 0) return quotes.map(({ text, from }) => `${from}: "${text}"`).join('\n')
  }
  return null
}

const QUESTION_WORD = /^(?:what|who|whom|whose|when|where|which|why|how|is|are|do|does|did|can|tell me|remind me)\b/i

/** The last sentence that asks; empty when none does. */
function askedSentence({ task, prompt }: Question): string {
  const asking = sentencesOf(prompt).findLast((sentence) => sentence.endsWith('?'))
  return asking ?? (QUESTION_WORD.test(task) ? (sentencesOf(task)[0] ?? '') : '')
}

const passages = (text: string, from: string): Passage[] =>
  sentencesOf(text).map((sentence) => ({ text: sentence, from }))

const fromMaterial = ({ prompt }: Question, asked: string): Passage[] =>
  passages(prompt, 'From the text you sent').filter(({ text }) => text !== asked && !text.endsWith('?'))

/** The user's earlier sentences, latest turn first, because a later statement replaces an earlier one. */
const fromConversation = ({ history }: Question): Passage[] =>
  [...history]
    .reverse()
    .flatMap(({ role, text }) => (role === 'user' ? passages(text, 'Earlier you wrote') : []))
    .filter(({ text }) => !text.endsWith('?'))

/** Passages of the system prompt: fenced files and notes under their own name, the rest as the service's. */
function fromInstructions({ system }: Question): Passage[] {
  const { parts, rest } = fencedParts(system)
  return [
    ...parts.flatMap(({ source, text }) => passages(text, `From ${source}`)),
    ...passages(rest, 'From the instructions of this service').filter(({ text }) => !INSTRUCTS.test(text)),
  ]
}

/** Sentences that instruct ("You are…", "Answer…") and are not quoted as facts. */
const INSTRUCTS = /^(?:you\b|your\b|be\b|answer\b|say\b|never\b|always\b|do\b|reason\b|form of|extract\b|give\b|use\b)/i

function bestQuotes(asked: readonly string[], from: readonly Passage[]): Passage[] {
  const scored = from.slice(0, MAX_PASSAGES).map((passage) => {
    const words = new Set(contentWords(passage.text))
    return { passage, share: asked.filter((word) => words.has(word)).length / asked.length }
  })
  const best = Math.max(0, ...scored.map(({ share }) => share))
  if (best < ENOUGH) return []
  const chosen = scored.filter(({ share }) => share === best).map(({ passage }) => passage)
  // Among equally good sentences of a conversation the latest is valid; from a text several may be needed.
  return chosen[0]!.from === 'Earlier you wrote' ? chosen.slice(0, 1) : chosen.slice(0, MAX_QUOTES)
}
