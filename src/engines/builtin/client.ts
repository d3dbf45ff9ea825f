import type { Clock } from '../../kernel/clock'
import { randomFraction } from '../../kernel/crypto'
import { fencedParts } from '../../kernel/fence'
import { contentWords, readBrowsing, sentencesOf } from '../../text'
import { type Driver, type EngineAnswer, EngineFailure, type EngineRequest, type ToolCall } from '../engine'
import { cutToWeight, giveAnswer, UNITS_PER_TOKEN } from '../meter'
import { callsFor, nextStep, stillCalls } from './acting-choose'
import { fromFindings, isFailed } from './acting-findings'
import type { BuiltinSettings } from './config'
import { dates } from './dates'
import { extract } from './entities'
import { evaluate, exactOf } from './expression'
import { greet, identity, noModel } from './no-model'
import { MAX_READ_CHARS, type Question, readQuestion, type Skill } from './question'
import { structured } from './structured'
import { summarise } from './summarise'
import { transforms } from './transforms'
import { units } from './units'
import { capital, inDigits, readNumber, showNumber, spell } from './words'

const REQUEST =
  /^¿?(?:please\s+)?(?:(?:what(?:['’]s| is| are| does)|how much is|calculate|compute|evaluate|work out|solve|find|tell me|was (?:ist|sind|ergibt)|wie ?viel (?:ist|sind)|combien (?:font|fait)|cu[aá]nto (?:es|son)|quanto (?:fa|é|è))\s+)?(?:the\s+(?:value|result|answer)\s+(?:of|to)\s+)?/i

/** Phrases and the operators they stand for, applied in order to lower-case text. */
const PHRASES: [RegExp, string][] = [
  [/[$€£]\s?(?=\d)|(?<=\d)\s?[$€£]/g, ''],
  [/^([\d.,]+)\s?(?:%|percent)\s(?:off|less than)\s([\d.,]+)$/g, '$2*(1-$1/100)'],
  [/(?<=\d)\s(?:mal|fois|por|per)\s(?=\d)/g, '*'],
  [/(?<=\d)\s(?:geteilt durch|divisé par|dividido (?:por|entre)|diviso)\s(?=\d)/g, '/'],
  [/(?<=\d)\s(?:más|più)\s(?=\d)/g, '+'],
  [/(?<=\d)\s(?:moins|menos|meno)\s(?=\d)/g, '-'],
  [/\b(?:an?\s|1\s)?third of\s+/g, '1/3*'],
  [/(?<![\d.,])([\d.,]+)\s*(?:%|percent|prozent)\s+(?:of|von|de|di)\s+/g, '$1/100*'],
  [/\b(?:the\s+)?square root of\s+/g, 'sqrt '],
  [/\b(?:the\s+)?cube root of\s+/g, 'cbrt '],
  [/\bhalf of\s+/g, '0.5*'],
  [/\b(?:an?\s+|1\s+)?quarter of\s+/g, '0.25*'],
  [/\b(?:to the power of|raised to the power of|raised to)\b/g, '^'],
  [/(?:(?<!\s)\s+)?\bfactorial\b/g, '!'],
  [/\bsquared\b/g, '^2'],
  [/\bcubed\b/g, '^3'],
  [/\bplus\b|\band\b(?=\s+\d)/g, '+'],
  [/\bminus\b/g, '-'],
  [/^([\d.,]+)\s?([-+])\s?([\d.,]+)\s?(?:%|percent)$/g, '$1*(1$2$3/100)'],
  [/\b(?:times|multiplied by)\b|(?<=\d)\s*x\s*(?=\d)/g, '*'],
  [/\b(?:divided by|over)\b/g, '/'],
  [/\bmod(?:ulo)?\b/g, '%'],
]

/** `What is 12 * 7 + 3?`, `15% of 80`, `three plus four`, `the average of 2, 4 and 9`. */
const arithmetic: Skill = ({ prompt }) => {
  const question = withoutEnd(prompt.replace(REQUEST, ''))
  if (question.length === 0) return null
  const listed = overList(question)
  if (listed) return listed

  const digits = inDigits(question.toLowerCase())
  const expression = PHRASES.reduce((text, [phrase, signs]) => text.replace(phrase, signs), digits)
  // A number alone is not a calculation, and neither is a date such as 2026-01-02.
  if (/^[\p{Nd}.,\s]*$/u.test(expression) || /^\d{4}-\d{2}-\d{2}$/.test(expression.trim())) return null
  const value = evaluate(expression)
  if (value === null) return null
  const isExact = !/\d{16}/.test(expression) && (Number.isSafeInteger(value) || !Number.isInteger(value))
  return `${question.trim()} = ${(isExact ? null : exactOf(expression)) ?? showNumber(value)}`
}

/** Removes ` = ?`, `?` or `.` at the end. */
const withoutEnd = (question: string): string =>
  question
    .trimEnd()
    .replace(/\??\.?$/, '')
    .trimEnd()
    .replace(/=$/, '')
    .trimEnd()

const sumOf = (values: number[]): number => values.reduce((total, value) => total + value, 0)
const meanOf = (values: number[]): number => sumOf(values) / values.length

const LISTS = new Map<string, (values: number[]) => number>([
  ['sum', sumOf],
  ['total', sumOf],
  ['product', (values) => values.reduce((total, value) => total * value, 1)],
  ['average', meanOf],
  ['mean', meanOf],
  ['median', median],
  ['maximum', (values) => Math.max(...values)],
  ['minimum', (values) => Math.min(...values)],
])

type Passage = { text: string; from: string }

const MAX_PASSAGES = 5_000
const MAX_QUOTES = 3
/** Share of the question's content words that a quotation must contain. */
const ENOUGH = 0.6

/**
 * Answers a question by quoting the sentences with most of its words: from the text in the prompt, from this
 * conversation, or from the instructions. Every quotation names where it comes from.
 */
const retrieve: Skill = (question) => {
  // The last sentence that asks; empty when none does.
  const query = sentencesOf(question.prompt).findLast((sentence) => sentence.endsWith('?'))
  const questionText = query ?? (QUESTION_WORD.test(question.task) ? (sentencesOf(question.task)[0] ?? '') : '')
  const words = [...new Set(contentWords(questionText.replace(/^.*\bquestion\s*:/i, '')))]
  if (words.length === 0) return null
  const isFact = ({ text }: Passage) => text !== questionText && text !== question.prompt && !text.endsWith('?')
  const material = passages(question.prompt, 'From the text you sent').filter(isFact)
  // Latest turn first, because a later statement replaces an earlier one.
  const conversation = question.history
    .toReversed()
    .flatMap(({ role, text }) => (role === 'user' ? passages(text, 'Earlier you wrote') : []))
    .filter(({ text }) => !text.endsWith('?'))
  for (const found of [material, conversation, fromInstructions(question)]) {
    const quotes = bestQuotes(words, found)
    if (quotes.length > 0) return quotes.map(({ text, from }) => `${from}: "${text}"`).join('\n')
  }
  return null
}

const QUESTION_WORD = /^(?:what|who|whom|whose|when|where|which|why|how|is|are|do|does|did|can|tell me|remind me)\b/i

const passages = (text: string, from: string): Passage[] =>
  sentencesOf(text).map((sentence) => ({ text: sentence, from }))

/** Sentences that instruct ("You are…", "Answer…") and are not quoted as facts. */
const INSTRUCTS = /^(?:you\b|your\b|be\b|answer\b|say\b|never\b|always\b|do\b|reason\b|form of|extract\b|give\b|use\b)/i

type Language = 'python' | 'javascript' | 'typescript' | 'go'

const LANGUAGES: [RegExp, Language][] = [
  [/\btypescript\b|\bts\b/i, 'typescript'],
  [/\bjavascript\b|\bjs\b|\bnode(?:\.js)?\b/i, 'javascript'],
  [/\bgolang\b|\bin go\b|\bgo (?:function|program)\b/i, 'go'],
  [/\bpython\b|\bpy\b/i, 'python'],
]

const ONLY_AN_OUTLINE =
  'Only the outline: its body has to be written, and no language model that could do so is connected to this server.'

/** In `code` mode, the outline of a function that the prompt names or describes; it says that its body is missing. */
const code: Skill = ({ mode, prompt }) => {
  if (mode !== 'code') return null
  const name = nameOf(prompt)
  if (!name) return null
  const language = LANGUAGES.find(([named]) => named.test(prompt))?.[1] ?? 'python'
  return `${`\`\`\`${language}\n${skeleton(language, name)}\n\`\`\``}\n\n${ONLY_AN_OUTLINE}`
}

/** In `genui` mode, one empty component with the prompt as its title, in characters that are safe in JSX text. */
const component: Skill = ({ mode, prompt }) => {
  if (mode !== 'genui') return null
  const title =
    capital(
      prompt
        .replace(/[^\p{L}\p{N} -]/gu, '')
        .trim()
        .slice(0, 50),
    ) || 'Component'
  return `export default function Component() {\n  return <article><h2>${title}</h2></article>\n}`
}

const ECHO =
  /^(?:please\s+)?(?:say|repeat|echo|reply|respond|answer|print|output|write)(?:\s+(?:back|only|just|exactly|verbatim|with|after me|the (?:exact )?(?:words?|text|phrase|string)|this))*(\s*:\s*|\s+)(?:["“'`](.+)["”'`]|(.+?))\s*$/is

/** `Reply with exactly: OK`, `say "yes"`: only when the words to repeat are marked or very short. */
const echo: Skill = ({ prompt }) => {
  const found = ECHO.exec(prompt.trim())
  if (!found) return null
  const [, mark, quotedText, bareText] = found
  // The inside of what begins and ends with three backticks, of which one was taken for a quotation mark.
  if (quotedText) return quotedText.startsWith('``') && quotedText.endsWith('``') ? `\`${quotedText}\`` : quotedText
  const marked = mark!.includes(':') || /\b(?:exactly|verbatim|only|just|after me)\b/i.test(prompt)
  if (/^["“'`]|\b(?:in|times|something|anything|nothing|again)\b/i.test(bareText!) && !mark!.includes(':')) return null
  const words = bareText!.split(/\s+/).length
  if (/^(?:say|repeat|echo)\b/i.test(prompt) && words <= 3) return bareText!
  return marked && words <= (mark!.includes(':') ? 60 : 1) ? bareText! : null
}

const COUNTING =
  /\bcount(?:ing)?\b(?<back>\s+(?:down|backwards?))?(?:\s+from\s+(?<from>[\w-]+))?(?<back2>\s+(?:down|backwards?))?(?:\s+(?:up\s+)?to\s+(?<to>[\w-]+))?(?:.*?\bby\s+(?<by>[\w-]+))?/i

const IN_A_LANGUAGE = /\bin (?!steps|words|order|twos|fives|tens)[a-z]/i

const MAX_COUNTED = 1_000

/** `Count to five slowly`, `count from 3 to 9`, `count down from ten`, `count to 20 by twos`. */
const count: Skill = ({ prompt }) => {
  const found = COUNTING.exec(prompt)?.groups
  if (!found || (!found.from && !found.to) || IN_A_LANGUAGE.test(prompt)) return null
  const back = Boolean(found.back ?? found.back2)
  const from = found.from ? readNumber(found.from) : 1
  const to = found.to ? readNumber(found.to) : 1
  const by = found.by ? readNumber(found.by.replace(/s$/, '')) : 1
  if (from === null || to === null || !by || by < 0 || (!found.to && !back)) return null
  const steps = Math.floor(Math.abs(to - from) / by) + 1
  if (![from, to, by].every(Number.isInteger) || steps > MAX_COUNTED) return null
  const direction = to >= from ? by : -by
  const numbers = Array.from({ length: steps }, (_, step) => from + step * direction)
  const inWords = numbers.every((value) => value >= 0 && value <= 20)
  return `${capital(numbers.map((value) => (inWords ? spell(value) : String(value))).join(', '))}.`
}

/** Longer prompts are not sums, dates or greetings, and the patterns for those would be slow on them. */
const SHORT_CHARS = 400

const whenShort =
  (skill: Skill): Skill =>
  (question) =>
    question.prompt.length <= SHORT_CHARS ? skill(question) : null

/** In the order they are tried: tool results, skills of a mode, exact answers, then skills that only quote. */
const SKILLS: readonly Skill[] = [
  fromFindings,
  structured,
  component,
  code,
  ...[identity, greet, count, arithmetic, units, dates].map(whenShort),
  summarise,
  extract,
  transforms,
  whenShort(echo),
  retrieve,
]

const CUT = `(Only the first ${MAX_READ_CHARS.toLocaleString('en')} characters were read.)`

type Deps = { clock: Pick<Clock, 'now' | 'sleep'>; habits?: Partial<BuiltinSettings> }

/**
 * The built-in engine: deterministic, in process, free. It does what ordinary code can do, says so when a request
 * needs a language model, and is never presented as one (docs/design.md 5).
 */
export function createBuiltinDriver({ clock, habits = {} }: Deps): Driver {
  const { builtinDelayMs = 0, builtinFailRate = 0, builtinChunk = 1 } = habits

  function answer(request: EngineRequest): EngineAnswer {
    request.signal.throwIfAborted()
    const question = readQuestion(request, clock.now())
    const goesOn = question.findings.length > 0 && !stillCalls(question.choice)
    const browsing = browsingCall(question)
    const wanted = browsing ?? (goesOn ? nextStep(question) : callsFor(question))
    const toolCalls = question.oneCallATurn ? wanted.slice(0, 1) : wanted
    const plain = { reasoning: '', refusal: '', toolCalls, usage: null }
    if (toolCalls.length) return { ...plain, text: '', finish: 'tool-calls' }
    const whole = answerQuestion(question)
    // As many as the count rounds to the limit.
    const text = cutToWeight(whole, (request.maxOutputTokens + 0.5) * UNITS_PER_TOKEN - 1)
    return { ...plain, text, finish: text === whole ? 'stop' : 'length' }
  }

  return {
    /** Streams word by word by default, because clients expect several parts; the whole text is ready at once. */
    async ask(request, sink): Promise<void> {
      if (builtinDelayMs) await clock.sleep(builtinDelayMs, request.signal)
      if (builtinFailRate && randomFraction() < builtinFailRate)
        throw new EngineFailure('server', 'failed on purpose, because SVC_BUILTIN_FAIL_RATE is set')
      const whole = answer(request)
      if (!sink.streams) return giveAnswer(whole, sink)
      const words = [...whole.text.matchAll(/\s+\S*|\S+/g)].map(([word]) => word)
      for (let at = 0; at < words.length; at += builtinChunk) {
        request.signal.throwIfAborted()
        await sink.take({ type: 'text', text: words.slice(at, at + builtinChunk).join('') })
      }
      return giveAnswer({ ...whole, text: '' }, sink)
    },

    probe: async () => [],
  }
}

/**
 * The next browser tool call of a request that describes browser steps in plain words. One call a turn, so that each
 * sees the page that the last one left. Empty after a failed call and when all steps are done. Null if the request asks
 * for something else, or for a tool that is not offered.
 */
function browsingCall({ tools, choice, prompt, findings }: Question): ToolCall[] | null {
  if (choice === 'none' || !tools.some(({ name }) => name.startsWith('browser_'))) return null
  const asks = readBrowsing(prompt)
  if (!asks?.every(({ tool }) => tools.some(({ name }) => name === tool))) return null
  const next = asks[findings.length]
  const last = findings.at(-1)
  if (!next || (last && isFailed(last))) return []
  return [{ id: `call_${findings.length + 1}`, name: next.tool, arguments: JSON.stringify(next.arguments) }]
}

/** The answer of the first skill that has one, else the statement that a language model is needed. */
export function answerQuestion(question: Question): string {
  for (const skill of SKILLS) {
    const answer = skill(question)?.trim()
    if (answer) return question.cut && skill !== structured ? `${answer}\n\n${CUT}` : answer
  }
  return noModel(question)
}

/** `a function called parse_row`, `a function that parses rows` → a name for it. */
function nameOf(prompt: string): string[] | null {
  const named = /\b(?:function|method)\s+(?:called|named)\s+`?([A-Za-z_]\w*)/i.exec(prompt)
  if (named)
    return named[1]!
      .replace(/([a-z])([A-Z])/g, '$1_$2')
      .toLowerCase()
      .split('_')
      .filter(Boolean)
  const described = /\b(?:function|method|script|program)\s+(?:that|which|to)\s+((?:(?!in\b)[\p{L}]+\s*){1,4})/iu.exec(
    prompt,
  )
  const words = described?.[1]
    ?.toLowerCase()
    .match(/[a-z]+/g)
    ?.filter((word) => !/^(?:a|an|the|of|to|and|all|my)$/.test(word))
  return words?.length ? words.slice(0, 3) : null
}

function skeleton(language: Language, name: string[]): string {
  const camel = name.map((word, at) => (at ? word[0]!.toUpperCase() + word.slice(1) : word)).join('')
  switch (language) {
    case 'python':
      return `def ${name.join('_')}(value):\n    raise NotImplementedError("${name.join(' ')}")`
    case 'javascript':
      return `export function ${camel}(value) {\n  throw new Error('${name.join(' ')} is not written yet')\n}`
    case 'typescript':
      return `export function ${camel}(value: unknown): never {\n  throw new Error('${name.join(' ')} is not written yet')\n}`
    case 'go':
      return `func ${camel}(value any) error {\n\treturn errors.New("${name.join(' ')} is not written yet")\n}`
  }
}

/** Passages of the system prompt: fenced files and notes under their own name, the rest as the service's. */
function fromInstructions({ system }: Question): Passage[] {
  const { parts, rest } = fencedParts(system)
  return [
    ...parts.flatMap(({ source, text }) => passages(text, `From ${source}`)),
    ...passages(rest, 'From the instructions of this service').filter(({ text }) => !INSTRUCTS.test(text)),
  ]
}

function bestQuotes(requests: readonly string[], from: readonly Passage[]): Passage[] {
  const scored = from.slice(0, MAX_PASSAGES).map((passage) => {
    const words = new Set(contentWords(passage.text))
    return { passage, share: requests.filter((word) => words.has(word)).length / requests.length }
  })
  const best = Math.max(0, ...scored.map(({ share }) => share))
  if (best < ENOUGH) return []
  const chosen = scored.filter(({ share }) => share === best).map(({ passage }) => passage)
  // Among equally good sentences of a conversation the latest is valid; from a text several may be needed.
  return chosen[0]!.from === 'Earlier you wrote' ? chosen.slice(0, 1) : chosen.slice(0, MAX_QUOTES)
}

function overList(question: string): string | null {
  const found = /^(?:the\s+)?(sum|total|product|average|mean|median|maximum|minimum)\s+of\s+(\S.*)$/i.exec(question)
  if (!found) return null
  const values = found[2]!
    .split(/\s*(?:,\s*and|,|;|\band\b|\s)\s*/)
    .filter(Boolean)
    .map(readNumber)
  if (values.length < 2 || values.some((value) => value === null)) return null
  const name = found[1]!.toLowerCase()
  return `The ${name} of ${found[2]!.trim()} is ${showNumber(LISTS.get(name)!(values as number[]))}.`
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
