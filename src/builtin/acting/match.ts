import type { EngineTool } from '../../engines'
import { contentWords, sentencesOf } from '../../text'
import { propertiesOf } from '../schema-fill'
import type { Clause } from './clause'
import type { Filled } from './fill'
import { codeIn } from './phrases'
import { isVerb, isWeak, likeVerb, tellingWords, wordsOfName } from './vocabulary'

const NAMED = 100
const PER_WORD = 10
const PER_VERB = 5
/** For the verb of the tool's name itself rather than a synonym. */
const EXACT = 4

/**
 * How clearly a request asks for a tool; 0 when it does not. The request must be a question or an order, and contain
 * every telling word of the tool's name and its verb, or the topic of its description.
 */
export function clarity(tool: EngineTool, clause: Clause, filled: Filled): number {
  if (mentions(tool.name, clause)) return NAMED
  const parts = wordsOfName(tool.name)
  const asks = clause.isQuestion || isVerb(clause.first) || parts.includes(clause.first)
  if (!asks) return 0
  const described = contentWords(tool.description).filter((word) => clause.words.has(word)).length
  const byName = clarityOfName(parts, clause, filled)
  if (byName > 0) return byName + Math.min(described, EXACT - 1)
  return clarityOfDescription(tool, clause, filled)
}

/** `use get_weather for …`; a name that is a plain word needs `use`, `call` or `tool` beside it. */
const mentions = (name: string, { asked }: Clause): boolean =>
  new RegExp(`(?<![\\w-])${RegExp.escape(name)}(?![\\w-])`).test(asked) &&
  (/[_\dA-Z-]/.test(name) ||
    new RegExp(
      `\\b(?:use|call|run|with|using)\\s+(?:the\\s+)?${RegExp.escape(name)}\\b|\\b${RegExp.escape(name)}\\s+tool\\b`,
      'i',
    ).test(asked))

function clarityOfName(parts: readonly string[], clause: Clause, filled: Filled): number {
  const verbs = parts.filter(isVerb)
  const nouns = tellingWords(parts)
  const implied = impliedBy(clause)
  if (!nouns.every((noun) => clause.words.has(noun) || implied.has(noun))) return 0
  const strong = verbs.filter((verb) => !isWeak(verb))
  const said = strong.filter((verb) => sayLike(verb, clause, nouns.length === 0))
  if (strong.length > said.length) return 0
  const exact = said.some((verb) => clause.words.has(verb)) ? EXACT : 0
  if (nouns.length + said.length > 0) return nouns.length * PER_WORD + said.length * PER_VERB + exact
  // The name is only `get` or `read`: the request must begin with such a verb and state an argument.
  return isWeak(clause.first) && filled.told > 0 ? PER_VERB : 0
}

/** Whether the request has the verb or a synonym; for a name without nouns it must be the first word. */
function sayLike(verb: string, { words, first }: Clause, mustLead: boolean): boolean {
  const like = likeVerb(verb)!
  return mustLead ? like.has(first) : like.has(first) || [...like].some((one) => words.has(one))
}

/** Words that the text implies: a URL implies `page`, an e-mail address `mail`, code `script`. */
function impliedBy({ text, entities }: Clause): Set<string> {
  const said: string[] = []
  if (entities('urls').length) said.push('url page site website link address')
  if (entities('emails').length) said.push('email mail')
  if (codeIn(text)) said.push('code script program javascript')
  return new Set(contentWords(said.join(' ')))
}

/** For a name without meaning: how many topic words of the description occur. An argument must be stated as well. */
function clarityOfDescription({ description, parameters }: EngineTool, { words }: Clause, filled: Filled): number {
  const own = new Set(
    contentWords(
      propertiesOf(parameters)
        .flatMap(([name]) => wordsOfName(name))
        .join(' '),
    ),
  )
  const first = sentencesOf(description)[0] ?? ''
  const topics = [...new Set(tellingWords(first.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []))].filter(
    (word) => !own.has(word),
  )
  const hits = topics.filter((word) => words.has(word)).length
  return hits > 0 && hits >= topics.length * 0.6 && filled.told > 0 && !filled.missing.length ? hits : 0
}
