import { parsedJson } from '../../kernel/json'
import { counted } from '../../kernel/text'
import { centralSentences, contentWords, sentencesOf } from '../../text'
import { type EntityKind, findEntities } from './entities'
import { noModel } from './no-model'
import type { Question, Skill } from './question'
import { fillSchema } from './schema-fill'
import { capital, labelledFacts } from './words'

const KINDS: EntityKind[] = ['emails', 'urls', 'phones', 'dates', 'amounts', 'hashtags']
const NOTE = 'Found by form alone: no language model is connected to this server.'

/** Answers requests for JSON with a filled schema, extracted data, or findings about the text. */
export const structured: Skill = (question) => {
  if (question.json && question.json !== true) return show(fillSchema(question.json, sourceOf(question), question.now))
  if (question.mode === 'domain_analysis') return show(analyse(sourceOf(question)))
  if (question.mode === 'data_extraction') return show(extractAll(sourceOf(question)))
  if (question.json === true) return show(anyObject(question))
  return null
}

const show = (value: unknown): string => JSON.stringify(value, null, 2)

const sourceOf = ({ material, prompt }: Question): string => material || prompt

function extractAll(text: string): Record<string, unknown> {
  const forms = KINDS.map((kind) => [kind, findEntities(kind, text)] as const).filter(([, found]) => found.length > 0)
  const facts = [...labelledFacts(text)].map(([label, value]) => [label.replaceAll(' ', '_'), value] as const)
  const found = Object.fromEntries([...facts, ...forms])
  return Object.keys(found).length ? found : { note: NOTE }
}

/** The object that the prompt spells out (`give the JSON object {"ok": true}`), else the facts of the text. */
function anyObject(question: Question): unknown {
  const literal = question.prompt.slice(Math.max(question.prompt.indexOf('{'), 0), question.prompt.lastIndexOf('}') + 1)
  if (literal.startsWith('{')) return parsedJson(literal) ?? extractAll(sourceOf(question))
  const found = extractAll(sourceOf(question))
  return 'note' in found ? { note: noModel(question) } : found
}

/** Counts and quotations in the format of `domain_analysis`; confidence is 1, because counts are certain. */
function analyse(text: string): Record<string, unknown> {
  const sentences = sentencesOf(text)
  const words = contentWords(text)
  const terms = mainTerms(text).slice(0, 5)
  const entities = KINDS.map((kind) => [kind, findEntities(kind, text)] as const).filter(([, found]) => found.length)
  return {
    // A domain is a judgement; the most frequent word is not one.
    domain: 'unknown',
    summary: centralSentences(sentences, 2).join(' '),
    findings: [
      {
        title: 'Size',
        detail: `${counted(sentences.length, 'sentence')}, ${counted(words.length, 'word')} of content.`,
        confidence: 1,
      },
      ...(terms.length
        ? [
            {
              title: 'Main terms',
              detail: terms.map(([term, times]) => `${term} (${times})`).join(', '),
              confidence: 1,
            },
          ]
        : []),
      ...entities.map(([kind, found]) => ({ title: capital(kind), detail: found.join(', '), confidence: 1 })),
    ],
    recommendations: [],
    note: NOTE,
  }
}

/** The most frequent words, one entry per stem, each in its first form in lower case. */
function mainTerms(text: string): [string, number][] {
  const terms = new Map<string, { shown: string; times: number }>()
  for (const shown of text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? []) {
    const [stem] = contentWords(shown)
    if (!stem) continue
    const known = terms.get(stem)
    if (known) known.times += 1
    else terms.set(stem, { shown, times: 1 })
  }
  return [...terms.values()].sort((a, b) => b.times - a.times).map(({ shown, times }) => [shown, times])
}
