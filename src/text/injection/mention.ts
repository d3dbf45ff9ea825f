/** How many characters before and after a match are read to see who says it. */
const BEFORE = 160
const AFTER = 120

const CUE =
  /\b(?:such as|like|e\.?g|for example|example|examples|phrases?|phrasing|says?|said|saying|reads?|detect(?:s|ing|or)?|flag(?:s|ged)?|spot|recogni[sz]e|report|attack(?:s|er|ers)?|attempts?|inject(?:ion|ions|ed)?|jailbreaks?|malicious|suspicious|strings?|contains?|containing|asks?|asked|asking|tells?|told|telling|titled|called|search(?:es)? for|matches|patterns?|known|classic|famous|payloads?|refuse|decline|resist|wording|quotes?|sentences?|lines? like|demo(?:s)?|meaning|variants?|inputs?|expected|test cases?|refusal|samples?|beispiel|etwa|exemple|ejemplo|sätze)\b/

const NEGATION =
  /\b(?:never|do not|don't|must not|mustn't|should not|shouldn't|cannot|can't|can not|could not|won't|will not|would not|refuses? to|refusing to|declines? to|avoid|without|not to|nobody may|no one may|may not|shall not|nor|rather than|instead of|isn't|is not|does not|doesn't|did not|didn't|forbidden to|prohibited from|prevents? (?:\w+ ){0,3}from|unable to|not allowed to|neither|protects? against|guards? against|against|resists?|stops? (?:\w+ ){0,3}from|keeps? (?:\w+ ){0,3}from|blocks?)(?: (?!hesitate|fail|forget|worry|afraid|hold|stop|refuse|be)[\w'-]+){0,4} $/

/** Ends where the match begins: `attackers who try to …`, `a request to …`. */
const REPORTED =
  /\b(?:requests?|attempts?|demands?|orders?|invitations?|efforts?|tries|trying|tried|attempting|attempted|tricks?|tricked|tricking|coax(?:es|ed|ing)?|persuad(?:e|es|ed|ing)|convinc(?:e|es|ed|ing)|pressur(?:e|es|ed|ing)|manipulat(?:e|es|ed|ing)|urg(?:es|ed|ing)|beg(?:s|ged|ging)|lur(?:e|es|ed|ing)|caus(?:e|es|ed|ing)|gets?|getting|designed|aims?|seeks?|wants?|used|meant|intended)\b[^.!?;:]{0,40}\b(?:to|into|at|that|which|who|and|or) (?:[\w'-]+ ){0,2}$/
/** `if someone asks you to …`. */
const CONDITION =
  /\b(?:if|when|whenever|should|where|in case|once|unless|messages?|texts?|e-?mails?|pages?|users?|someone|anyone|people|content|inputs?|documents?|prompts?|customers?|students?|attackers?|that|which|who)\b[^.!?;,:]{0,60}\b(?:asks?|asked|asking|tells?|told|telling|says?|wants?|requests?|instructs?|instructing|orders?|urges?|demands?|tries|trying|attempts?|attempting|claims?|claiming)\b(?: (?:you|the (?:assistant|model|bot|agent|ai|engine)|it|them|a model|an ai|us|a chatbot|an assistant))? ?(?:to|that|you should) (?:[\w'-]+ ){0,2}$/
/** `participants were told to …` reports; `you were told to …` speaks to the engine. */
const NOTICE =
  /(?<!\b(?:you|assistant|model|ai|agent|bot|system|it) )\b(?:was|were|is|are|been|being) (?:told|asked|instructed|ordered|urged) to (?:[\w'-]+ ){0,2}$/
/** `please …`: the sentence speaks to its reader after all. */
const ADDRESSED = /\b(?:i|we|please|kindly)\b[^.!?;:]{0,30}$/
/** The words behind the match call it an attack: `… attacks`, `… is a classic jailbreak`. */
const NAMED_AFTER =
  /^["'`]?[^.!?]{0,30}(?:\b(?:attacks?|injections?|attempts?|is (?:a|an|the) (?:classic|known|typical|common|famous|example|attack|prompt injection|jailbreak|red flag)|are (?:classic|known|typical|common|attacks?|refused|blocked|rejected|signs)|must be (?:refused|declined|reported|rejected|flagged)|should be (?:refused|declined|reported|rejected|flagged)|style attacks?|requests? are)\b)/

/**
 * Whether a match is quoted, forbidden or reported of others, and not said to the engine. With `negated` the match
 * itself says "do not", so a negation before it does not clear it.
 */
export function isOnlyMentioned(text: string, start: number, end: number, negated: boolean): boolean {
  const from = Math.max(0, start - BEFORE)
  const part = text.slice(from, start)
  const cut = Math.max(part.lastIndexOf('. '), part.lastIndexOf('! '), part.lastIndexOf('? '))
  const before = cut < 0 ? part : part.slice(cut + 2)
  if (
    isQuoted(text, start, end) &&
    CUE.test(text.slice(Math.max(0, start - BEFORE), start) + text.slice(end, end + AFTER))
  ) {
    return true
  }
  if (!negated && NEGATION.test(before)) return true
  if (NAMED_AFTER.test(text.slice(end, end + 80))) return true
  if (CONDITION.test(before) || NOTICE.test(before)) return true
  return REPORTED.test(before) && !ADDRESSED.test(before.slice(0, 40))
}

const MARKS = ['"', '`', "'"] as const

/** Whether a match stands between two quotation marks of one kind that open and close near it. */
function isQuoted(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - BEFORE), start)
  const after = text.slice(end, end + AFTER)
  return MARKS.some((mark) => {
    // An apostrophe inside a word is no quotation mark.
    const opens = mark === "'" ? (before.match(/(?<![a-z])'|'(?![a-z])/g) ?? []).length : before.split(mark).length - 1
    return opens % 2 === 1 && after.includes(mark)
  })
}
