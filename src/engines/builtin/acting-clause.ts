import { contentWords } from '../../text'
import { isVerb, joined } from './acting-vocabulary'
import { type EntityKind, findEntities } from './entities'
import { labelledFacts } from './labels'

/** One thing that a request asks for, parsed once. */
export type Clause = {
  /** The instruction, without the text it may be about. */
  instruction: string
  /** The text in which argument values are looked for. */
  text: string
  words: ReadonlySet<string>
  /** The first word that is not politeness, in lower case. */
  first: string
  isQuestion: boolean
  facts: ReadonlyMap<string, string>
  quoted: readonly string[]
  /** All entities of one kind in the text; the result is cached. */
  entities(kind: EntityKind): readonly string[]
  /** Epoch milliseconds from which `tomorrow` is counted. */
  now: number
}

const POLITE =
  /^(?:(?:please|now|then|also|and|hey|ok|okay|kindly)[,\s]+|(?:can|could|would|will) you (?:please )?|i(?:'d| would) like (?:you )?to |i (?:want|need) (?:you )?to |let'?s )+/i
const QUESTION = /^(?:what|who|whom|whose|when|where|which|why|how|is|are|do|does|did|was|were|has|have)\b|\?\s*$/i
const QUOTED =
  /"([^"\n]{1,2000})"|“([^“”\n]{1,2000})”|`([^`\n]{1,2000})`|(?<![\p{L}\p{N}])'([^'\n]{1,2000})'(?!\p{L})/gu

export function readClause(question: string, text: string, now: number): Clause {
  const plain = joined(question.trim().replace(POLITE, ''))
  const known = new Map<EntityKind, readonly string[]>()
  return {
    instruction: plain,
    text: text === question ? plain : text,
    words: new Set([...contentWords(plain), ...(plain.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])]),
    first: /^[\p{L}\p{N}]+/u.exec(plain.toLowerCase())?.[0] ?? '',
    isQuestion: QUESTION.test(plain),
    facts: labelledFacts(text),
    quoted: [...text.matchAll(QUOTED)].map(([, ...found]) => found.find(Boolean)!),
    entities(kind) {
      const found = known.get(kind) ?? findEntities(kind, text)
      known.set(kind, found)
      return found
    },
    now,
  }
}

const MAX_CLAUSES = 8

/** `look up tides and look up winds` asks for two things; each part must begin with a verb. */
export function splitRequested(text: string): string[] {
  const parts = joined(text)
    .split(/\s{0,9}(?:;|\n[\s*-]{0,40}|,?\s{1,9}(?:and then|then|and)\s{1,9}|,\s{1,9})(?=\p{L})/u)
    .filter(Boolean)
  const whole: string[] = []
  for (const part of parts) {
    const first = /^(?:please\s+)?(\p{L}+)/iu.exec(part)?.[1]?.toLowerCase() ?? ''
    if (whole.length === 0 || isVerb(first) || QUESTION.test(part)) whole.push(part)
    else return [text]
  }
  return whole.length > 1 && whole.length <= MAX_CLAUSES ? whole : [text]
}
