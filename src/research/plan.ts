import { beginningOf } from '../kernel/text'
import { contentWords, hostOf, sentencesOf } from '../text'
import type { Depth } from './schema'

/** The questions and addresses of a research job. */
export type Plan = {
  title: string
  /** The prompt without addresses and without words that only request research. */
  question: string
  /** Parts of the question, each a heading of the report. May be empty. */
  aspects: string[]
  /** Queries for the search server, best first. */
  queries: string[]
  /** Addresses that the prompt names. */
  urls: string[]
  /** Ids of the caller's own artifacts that the prompt names. */
  artifacts: string[]
}

const MAX_QUERIES: Record<Depth, number> = { basic: 2, advanced: 6 }
const MAX_ASPECTS = 6
const MAX_URLS = 50
const MAX_TITLE = 90
const MAX_QUERY = 200
const MIN_WORDS = 1

/** Number of characters of a prompt used for the plan. Addresses are also found after them (docs/promises.md I28). */
const MAX_READ = 20_000
const ADDRESS = /https?:\/\/[^\s<>"'`)\]}]{3,2040}/gi
const ARTIFACT = /\bart_[0-9A-Za-z]{10,40}\b/g
const REQUEST =
  /^(?:please\s+|could you\s+|can you\s+|i (?:want|need|would like)(?: you)? to\s+|svc,?\s+)*(?:(?:do|conduct|carry out|perform|write|give me|prepare|make|create)\s+(?:me\s+)?(?:an?\s+|some\s+)?(?:deep |in-depth |thorough |short |brief |detailed )*(?:research|report|study|investigation|overview|summary|analysis)\s+(?:report\s+)?(?:on|about|of|into|for)\s+|(?:deeply\s+)?(?:research|investigate|study|explore|look into|find out(?: about)?)\s+(?:about\s+|on\s+)?(?:(?:this|these|the following)\s*:\s*)?)/i
/** Without line breaks, because the pattern would otherwise rescan empty lines from each of them. */
const ITEM = /^[ \t]{0,40}(?:[-*•]|\d{1,2}[.)])[ \t]{1,40}(.{3,300})$/gm

/** Plans without a language model: the parts of a prompt are its list items or its questions. */
export function planFor(prompt: string, depth: Depth): Plan {
  const urls = [...new Set((prompt.match(ADDRESS) ?? []).map(trimmed))].slice(0, MAX_URLS)
  const artifacts = [...new Set(prompt.match(ARTIFACT) ?? [])]
  const words = prompt.slice(0, MAX_READ)
  const text = tidy(words.replace(ADDRESS, ' ').replace(ARTIFACT, ' '))
  const items = [...words.matchAll(ITEM)].map(([, item]) => tidy(item!.replace(ADDRESS, ' ')))
  const questions = sentencesOf(text).filter((sentence) => sentence.endsWith('?'))
  const aspects = distinct(items.length > 1 ? items : questions.length > 1 ? questions : partsOf(text)).slice(
    0,
    MAX_ASPECTS,
  )
  const question = text.replace(REQUEST, '').trim() || text
  const first = (sentencesOf(question)[0] ?? '').slice(0, 2 * MAX_TITLE).replace(/(?<![.\s])[.\s]+$/, '')
  const title = first || (urls[0] ? hostOf(urls[0]) || 'Report' : 'Report')
  const cut = title.length <= MAX_TITLE ? title : `${beginningOf(title, MAX_TITLE - 1).replace(/(?<!\s)\s+\S*$/, '')}…`
  return {
    title: cut.charAt(0).toUpperCase() + cut.slice(1),
    question,
    aspects,
    queries: queriesFor(question, aspects, depth),
    urls,
    artifacts,
  }
}

/** The plan with the title and aspects of another planner. Keeps what that planner omits. */
export function withWords(
  plan: Plan,
  { title, aspects }: { title: string; aspects: readonly string[] },
  depth: Depth,
): Plan {
  const parts = distinct(aspects.map(tidy).filter((one) => one.length <= MAX_QUERY)).slice(0, MAX_ASPECTS)
  const aspectsNow = parts.length ? parts : plan.aspects
  return {
    ...plan,
    title: beginningOf(tidy(title), MAX_TITLE) || plan.title,
    aspects: aspectsNow,
    queries: queriesFor(plan.question, aspectsNow, depth),
  }
}

/** Splits only `compare A and B` and `A versus B`, because `A, B and C of tides` is not a reliable list. */
function partsOf(text: string): string[] {
  const found = /\bcompar(?:e|ison of|ing) (.{2,80}?) (?:and|with|to|against) (.{2,80}?)(?:[.?!]|$)/i.exec(text)
  const against = found ?? /^(.{2,80}?)\s+(?:vs\.?|versus)\s+(.{2,80}?)(?:[.?!]|$)/i.exec(text)
  return against ? [tidy(against[1]!.replace(REQUEST, '')), tidy(against[2]!)] : []
}

function queriesFor(question: string, aspects: readonly string[], depth: Depth): string[] {
  const subject = contentWords(question).length ? question : ''
  const short = subject.length > MAX_QUERY ? (sentencesOf(subject)[0] ?? subject) : subject
  const all = [short, ...aspects].map((query) => query.slice(0, MAX_QUERY).replace(/(?<![?.!\s])[?.!\s]+$/, ''))
  const useful = distinct(all.filter((query) => contentWords(query).length >= MIN_WORDS))
  return useful.slice(0, MAX_QUERIES[depth])
}

const trimmed = (url: string): string => url.replace(/(?<![.,;:!?])[.,;:!?]+$/, '')
const tidy = (text: string): string => text.replace(/\s+/g, ' ').trim()
const distinct = (all: readonly string[]): string[] => {
  const seen = new Set<string>()
  return all.filter((one) => one && !seen.has(one.toLowerCase()) && seen.add(one.toLowerCase()))
}
