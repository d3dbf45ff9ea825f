/** Finds prompt injection: text that tries to command the engine reading it, in plain words, disguised or encoded. */

import { MAX_PARTS, markGrams, roomForGrams } from '../grams'
import { matchesOf } from '../model'
import { hasNeeds, type Needs, needsOfEach } from '../patterns/needs'
import { mixedWordAt } from './confusables'
import { decodedPieces, tagText } from './encoded'
import { FOREIGN_RULES, OTHER_SCRIPT_RULES, UNLEARNED_CUE, UNLEARNED_RULES } from './languages'
import { RULES, type Rule } from './rules'
import { splitPhrases } from './split'
import { allAround, changedParts, rotated, type Stretch, type View } from './view'
import { type Views, viewsIn, viewsOf } from './views'
import { TELLING } from './vocabulary'

export type InjectionFinding = {
  /** `block` is an attempt. `doubt` should be reviewed by a person. */
  severity: 'block' | 'doubt'
  rule: string
  /** A clause that continues after “it”, such as `asks for hidden instructions`. */
  about: string
  /** How it was written: `plain`, `base64`, `look-alike letters`, … */
  via: string
  /** UTF-16 offset of its start. */
  at: number
  line: number
  excerpt: string
}

type Found = Omit<InjectionFinding, 'line' | 'excerpt'> & { end: number }

const LATIN_RULES = [...RULES, ...FOREIGN_RULES]
const OTHER_SCRIPT = /[\u0370-\u1fff\u3040-\ud7ff]/
const MAX_FINDINGS = 20
const EXCERPT_CHARS = 100
/** Maximum nesting of encodings that are decoded. */
const MAX_DEPTH = 2

/**
 * Finds attempts in a text to command an engine, and text hidden from readers. At most 20 findings. Honest talk about
 * prompts and attacks passes: quotations, prohibitions and reports about others. Linear in the text's length. `within`
 * limits the search for plain words in languages of the models to these stretches, in offsets of the readable text.
 * Other languages, and disguised, encoded and hidden text, are searched everywhere.
 */
export function scanForInjection(source: string, within?: readonly Stretch[]): InjectionFinding[] {
  const found = scan(source, 0, within)
  return distinct(found)
    .slice(0, MAX_FINDINGS)
    .map(({ end, ...finding }) => ({
      ...finding,
      line: lineOf(source, finding.at),
      excerpt: source.slice(finding.at, Math.min(end, finding.at + EXCERPT_CHARS)),
    }))
}

function scan(source: string, depth: number, within?: readonly Stretch[]): Found[] {
  // A decoded piece must not reuse the buffers of the text around it, which is still being read.
  const views = depth === 0 ? viewsOf(source) : viewsIn(source)
  const found = [
    ...inWords(views, source.length, within),
    ...inSplit(views, source),
    ...inHidden(source, views.plain, depth),
  ]
  if (depth < MAX_DEPTH) found.push(...inEncoded(source, depth))
  return found
}

/** Rule findings in the text itself, with look-alikes and digits read as letters, and in rot13. */
function inWords({ plain, latin, letters }: Views, length: number, within?: readonly Stretch[]): Found[] {
  const found = byRules(plain, UNLEARNED_RULES, 'plain', length, true)
  for (const part of within ? allAround(plain, within) : [plain]) {
    found.push(...byRules(part, LATIN_RULES, 'plain', length, true))
    if (OTHER_SCRIPT.test(part.text)) found.push(...byRules(part, OTHER_SCRIPT_RULES, 'plain', length, true))
  }
  for (const [via, view] of [
    ['look-alike letters', latin],
    ['digits for letters', letters],
  ] as const) {
    if (!view) continue
    for (const part of changedParts(view, plain, TELLING)) found.push(...byRules(part, RULES, via, length, true))
  }
  const turned = rotated(plain)
  if (turned) found.push(...byRules(turned, RULES, 'rot13', length, false))
  return found
}

function byRules(view: View, rules: readonly Rule[], via: string, length: number, mayMention: boolean): Found[] {
  const found: Found[] = []
  for (const { rule, start, end } of rulesToSearch(rules, view.text)) {
    const { id, about, pattern, negated } = rule
    for (const match of matchesOf(pattern, view.text.slice(0, end + BEYOND), start)) {
      const last = match.index + match[0].length
      if (match.index >= end || (mayMention && isOnlyMentioned(view.text, match.index, last, negated === true)))
        continue
      found.push({
        severity: 'block',
        rule: id,
        about,
        via,
        at: view.at[match.index] ?? 0,
        end: view.at[last] ?? length,
      })
    }
  }
  return found
}

/**
 * Number of characters in one part of a text. A match of up to this length lies within two adjacent parts. The longest
 * match of fixed length, an image that leaks data in its address, has 429.
 */
const PART = 480
/** Maximum number of characters that a match may look ahead. */
const BEYOND = 120
const grams = roomForGrams()

/** The rules whose required words are in two adjacent parts of a text, and the range to search. Usually few. */
function rulesToSearch(rules: readonly Rule[], text: string): (Stretch & { rule: Rule })[] {
  // The required text of each rule, derived from the patterns on first use.
  const all = ready.getOrInsertComputed(rules, () => needsOfEach(rules.map(({ pattern }) => pattern)))
  const starts = new Int32Array(all.length).fill(-1)
  const ends = new Int32Array(all.length)
  let part = 0
  grams.fill(0)
  for (let start = 0; start < text.length; start += PART) {
    const end = Math.min(start + PART, text.length)
    if (part === MAX_PARTS) {
      grams.fill(0)
      markGrams(grams, text, start - PART, start, 1)
      part = 1
    }
    markGrams(grams, text, start, end, ++part)
    // The first part is checked together with the second.
    if (start === 0 && end < text.length) continue
    const since = Math.max(1, part - 1)
    for (let index = 0; index < all.length; index++) {
      if (!hasNeeds(all[index]!, grams, since)) continue
      if (starts[index]! < 0) starts[index] = Math.max(0, start - PART)
      ends[index] = end
    }
  }
  const toSearch: (Stretch & { rule: Rule })[] = []
  for (const [index, rule] of rules.entries()) {
    if (starts[index]! >= 0) toSearch.push({ rule, start: starts[index]!, end: ends[index]! })
  }
  return toSearch
}

const ready = new Map<readonly Rule[], readonly Needs[]>()

const inSplit = ({ plain, latin, letters }: Views, source: string): Found[] =>
  [plain, latin, letters].flatMap((view) =>
    view
      ? splitPhrases(view, source).map(({ how, at, end }) => ({
          severity: 'block' as const,
          rule: 'override',
          about: 'breaks up words so that they are not found',
          via: how,
          at,
          end,
        }))
      : [],
  )

function inHidden(source: string, plain: View, depth: number): Found[] {
  const found: Found[] = []
  if (plain.hides) found.push(...inUnseen(source, depth))
  const mixed = mixedWordAt(plain.text)
  if (mixed >= 0) found.push(doubtful('mixes alphabets inside a word', plain.at[mixed] ?? 0, 12))
  return found
}

/** Findings in a text with invisible characters. */
function inUnseen(source: string, depth: number): Found[] {
  const found: Found[] = []
  const tags = tagText(source)
  if (tags) {
    const about = 'holds text that no screen shows'
    found.push({ severity: 'block', rule: 'hidden', about, via: 'tag characters', at: tags.at, end: tags.at + 2 })
    if (depth < MAX_DEPTH)
      found.push(...scan(tags.text, depth + 1).map((inner) => ({ ...inner, at: tags.at, end: tags.at + 2 })))
  }
  const inWord = source.search(/[A-Za-z][\u200b-\u200d\u2060\u180e\ufeff]+[A-Za-z]/)
  if (inWord >= 0) found.push(doubtful('holds unseen characters inside words', inWord, 3))
  const bidi = source.search(/[\u202a-\u202e\u2066-\u2069]/)
  if (bidi >= 0) found.push(doubtful('holds characters that turn the order of letters round', bidi, 1))
  return found
}

const doubtful = (about: string, at: number, length: number): Found => ({
  severity: 'doubt',
  rule: 'hidden',
  about,
  via: 'hidden characters',
  at,
  end: at + length,
})

/** Attempts in encoded text, reported at the position of the encoded form. */
function inEncoded(source: string, depth: number): Found[] {
  return decodedPieces(source).flatMap(({ how, text, at }) =>
    scan(text, depth + 1)
      .filter(({ severity }) => severity === 'block')
      .map((inner) => ({
        ...inner,
        via: inner.via === 'plain' ? how : `${how}, ${inner.via}`,
        at,
        end: at + text.length,
      })),
  )
}

/** One finding per rule and position: blocks before doubts, then in text order. */
function distinct(found: readonly Found[]): Found[] {
  const byPlace = new Map<string, Found>()
  for (const one of found) {
    const key = `${one.severity} ${one.rule} ${one.at}`
    if (!byPlace.has(key)) byPlace.set(key, one)
  }
  return [...byPlace.values()].sort((a, b) =>
    a.severity === b.severity ? a.at - b.at : a.severity === 'block' ? -1 : 1,
  )
}

const lineOf = (source: string, at: number): number => {
  let line = 1
  for (let index = source.indexOf('\n'); index >= 0 && index < at; index = source.indexOf('\n', index + 1)) line++
  return line
}

/** Number of characters before and after a match that are read to determine who says it. */
const BEFORE = 160
const AFTER = 120

const CUE =
  /\b(?:such as|like|e\.?g|for example|example|examples|phrases?|phrasing|says?|said|saying|reads?|detect(?:s|ing|or)?|flag(?:s|ged)?|spot|recogni[sz]e|report|attack(?:s|er|ers)?|attempts?|inject(?:ion|ions|ed)?|jailbreaks?|malicious|suspicious|strings?|contains?|containing|asks?|asked|asking|tells?|told|telling|titled|called|search(?:es)? for|matches|patterns?|known|classic|famous|payloads?|refuse|decline|resist|wording|quotes?|sentences?|lines? like|demo(?:s)?|meaning|variants?|inputs?|expected|test cases?|refusal|samples?|beispiel|etwa|exemple|ejemplo|sätze)\b/

const NEGATION =
  /\b(?:never|do not|don't|must not|mustn't|should not|shouldn't|cannot|can't|can not|could not|won't|will not|would not|refuses? to|refusing to|declines? to|avoid|without|not to|nobody may|no one may|may not|shall not|nor|rather than|instead of|isn't|is not|does not|doesn't|did not|didn't|forbidden to|prohibited from|prevents? (?:\w+ ){0,3}from|unable to|not allowed to|neither|protects? against|guards? against|against|resists?|stops? (?:\w+ ){0,3}from|keeps? (?:\w+ ){0,3}from|blocks?)(?: (?!hesitate|fail|forget|worry|afraid|hold|stop|refuse|be)[\w'-]+){0,4} $/

/** Ends at the start of the match: `attackers who try to …`, `a request to …`. */
const REPORTED =
  /\b(?:requests?|attempts?|demands?|orders?|invitations?|efforts?|tries|trying|tried|attempting|attempted|tricks?|tricked|tricking|coax(?:es|ed|ing)?|persuad(?:e|es|ed|ing)|convinc(?:e|es|ed|ing)|pressur(?:e|es|ed|ing)|manipulat(?:e|es|ed|ing)|urg(?:es|ed|ing)|beg(?:s|ged|ging)|lur(?:e|es|ed|ing)|caus(?:e|es|ed|ing)|gets?|getting|designed|aims?|seeks?|wants?|used|meant|intended)\b[^.!?;:]{0,40}\b(?:to|into|at|that|which|who|and|or) (?:[\w'-]+ ){0,2}$/
/** `if someone asks you to …`. */
const CONDITION =
  /\b(?:if|when|whenever|should|where|in case|once|unless|messages?|texts?|e-?mails?|pages?|users?|someone|anyone|people|content|inputs?|documents?|prompts?|customers?|students?|attackers?|that|which|who)\b[^.!?;,:]{0,60}\b(?:asks?|asked|asking|tells?|told|telling|says?|wants?|requests?|instructs?|instructing|orders?|urges?|demands?|tries|trying|attempts?|attempting|claims?|claiming)\b(?: (?:you|the (?:assistant|model|bot|agent|ai|engine)|it|them|a model|an ai|us|a chatbot|an assistant))? ?(?:to|that|you should) (?:[\w'-]+ ){0,2}$/
/** `participants were told to …` reports, but `you were told to …` addresses the engine. */
const NOTICE =
  /(?<!\b(?:you|assistant|model|ai|agent|bot|system|it) )\b(?:was|were|is|are|been|being) (?:told|asked|instructed|ordered|urged) to (?:[\w'-]+ ){0,2}$/
/** `please …` means that the sentence addresses its reader. */
const ADDRESSED = /\b(?:i|we|please|kindly)\b[^.!?;:]{0,30}$/
/** Words after the match that call it an attack: `… attacks`, `… is a classic jailbreak`. */
const NAMED_AFTER =
  /^["'`]?[^.!?]{0,30}(?:\b(?:attacks?|injections?|attempts?|is (?:a|an|the) (?:classic|known|typical|common|famous|example|attack|prompt injection|jailbreak|red flag)|are (?:classic|known|typical|common|attacks?|refused|blocked|rejected|signs)|must be (?:refused|declined|reported|rejected|flagged)|should be (?:refused|declined|reported|rejected|flagged)|style attacks?|requests? are)\b)/

/**
 * Whether a match is quoted, forbidden or reported about others, and does not address the engine. With `negated` the
 * match itself says "do not", so a negation before it does not clear it.
 */
function isOnlyMentioned(text: string, start: number, end: number, negated: boolean): boolean {
  const from = Math.max(0, start - BEFORE)
  const part = text.slice(from, start)
  const cut = Math.max(part.lastIndexOf('. '), part.lastIndexOf('! '), part.lastIndexOf('? '))
  const before = cut < 0 ? part : part.slice(cut + 2)
  const around = text.slice(from, start) + text.slice(end, end + AFTER)
  if (isQuoted(text, start, end) && (CUE.test(around) || UNLEARNED_CUE.test(around))) return true
  if (!negated && NEGATION.test(before)) return true
  if (NAMED_AFTER.test(text.slice(end, end + 80))) return true
  if (CONDITION.test(before) || NOTICE.test(before)) return true
  return REPORTED.test(before) && !ADDRESSED.test(before.slice(0, 40))
}

const MARKS = ['"', '`', "'"] as const

/** Whether a match is between two quotation marks of one kind that open and close near it. */
function isQuoted(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - BEFORE), start)
  const after = text.slice(end, end + AFTER)
  return MARKS.some((mark) => {
    // An apostrophe inside a word is not a quotation mark.
    const opens = mark === "'" ? (before.match(/(?<![a-z])'|'(?![a-z])/g) ?? []).length : before.split(mark).length - 1
    return opens % 2 === 1 && after.includes(mark)
  })
}
