import { parsedJson } from '../../kernel/json'
import { contentWords, sentencesOf } from '../../text'
import type { Finding, Question, Skill } from './question'
import { structured } from './structured'
import { summarise } from './summarise'

const MAX_QUOTED_CHARS = 1_500
const MAX_QUOTES = 5
const MAX_LINES = 40

/** Answers with the results of tools, quoted verbatim so that nothing is invented. */
export const fromFindings: Skill = (question) => {
  const { findings } = question
  if (findings.length === 0) return null
  const material = findings.map(({ text }) => readable(text)).join('\n')
  const shaped = structured({ ...question, material })
  if (shaped) return shaped
  const short = summarise({ ...question, material, task: question.prompt.slice(0, 300) })
  if (short && material.length > MAX_QUOTED_CHARS) return short
  return findings.map((finding) => quote(finding, question)).join('\n\n')
}

const FAILED = /^Error: /
const ACKNOWLEDGED = /^\{"acknowledged":true\}$/

export const isFailed = ({ text }: Finding): boolean => FAILED.test(text)

/** Whether a tool gave a result that a further step can use. */
export const isResult = ({ text }: Finding): boolean =>
  !FAILED.test(text) && !ACKNOWLEDGED.test(text) && readable(text).trim() !== ''

function quote({ name, text }: Finding, { prompt }: Question): string {
  if (FAILED.test(text)) return `${name} did not succeed: ${text.replace(FAILED, '')}`
  if (ACKNOWLEDGED.test(text)) return `${name} was called; what comes of it is for your application to say.`
  const quotable = readable(text)
  if (quotable.trim() === '') return `${name} found nothing.`
  if (quotable.length <= MAX_QUOTED_CHARS)
    return quotable.includes('\n') ? `From ${name}:\n${quotable}` : `From ${name}: "${quotable}"`
  return `From ${name}:\n${bestOf(quotable, prompt)}`
}

/** The sentences of a long text with the most words of the question, in their order. */
function bestOf(text: string, prompt: string): string {
  const promptWords = new Set(contentWords(prompt))
  const scored = sentencesOf(text.slice(0, 100_000)).map((sentence, at) => ({
    sentence,
    at,
    hits: new Set(contentWords(sentence).filter((word) => promptWords.has(word))).size,
  }))
  return scored
    .sort((a, b) => b.hits - a.hits || a.at - b.at)
    .slice(0, MAX_QUOTES)
    .sort((a, b) => a.at - b.at)
    .map(({ sentence }) => `- ${sentence.length > 500 ? `${sentence.slice(0, 500)}…` : sentence}`)
    .join('\n')
}

/** Turns JSON into lines of `name: value`; returns any other text unchanged. */
export function readable(text: string): string {
  const value = parsedJson(text)
  if (value === undefined) return text
  if (typeof value !== 'object' || value === null) return String(value)
  return linesOf(value, '').slice(0, MAX_LINES).join('\n')
}

function linesOf(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [path ? `${path}: ${String(value)}` : String(value)]
  return Object.entries(value).flatMap(([key, inner]) => {
    const name = Array.isArray(value) ? `${path} ${Number(key) + 1}`.trim() : path ? `${path} ${key}` : key
    return linesOf(inner, name)
  })
}
