import { shorten } from '../../kernel/text'
import { delimitedRows, labelled, pairRows } from './outline'

const MAX_TITLE = 90
const NAMELESS = 'Document'
const MAX_REQUEST = 300
/** Number of characters searched for a title, which is near the beginning. */
const MAX_READ = 1_000

const NAMED = /\b(?:titled|entitled|called|named|with the title|title\s*[:=])\s*["“'«]?([^"”'»\n.;]{2,90})["”'»]?/i
/** The topic in a sentence that requests a document. */
const ABOUT = /\b(?:about|regarding|covering|describing|explaining|on the subject of|on)\s+(.{2,})$/i
const MADE =
  /^(?:please\s+)?(?:can you\s+|could you\s+)?(?:create|make|write|generate|prepare|produce|draft|build|give me|export|turn|put|convert)\b\s*(?:me\s+)?/i
const FILES = 'pdf|word|docx|excel|xlsx|csv|powerpoint|pptx|markdown'
const KINDS = new RegExp(
  `^(?:(?:the following|this|these|it|an?|the|my|our|into|one[- ]page|short|brief|detailed|new|bar|pie|line|area|${FILES})\\s+)+`,
  'i',
)
const FILE_LAST = new RegExp(`\\b(?:${FILES})\\s+$`, 'i')
const THING =
  'document|file|report|presentation|deck|slides?|slideshow|spreadsheet|workbook|sheet|table|chart|graph|paper|letter|memo|text|notes?|list|data|outline'
const THINGS = new RegExp(`^(?:${THING})(?:\\s+deck)?\\b\\s*`, 'i')
const LINKS = /^(?:about|on|of|for|regarding|covering|that|which|from|with|describing|explaining|out of)\b\s*/i
/** A request names what to make, or refers to its material. */
const REQUEST = new RegExp(`\\b(?:this|these|following|below|it|me|${THING}|${FILES})\\b`, 'i')
const DETERMINED = /\b(?:an?|the|this|these|following|my|our|me|it|into|as|from)\b|:\s*$/i
const WITH =
  /\bwith\s+(?:the\s+)?(?:following\s+)?(?:sections?|columns?|fields?|chapters?|slides|an?\s+(?:\w+\s+)?(?:chart|table|graph))\b.*$/i
const TAIL =
  /(?<!\s)\s+(?:as|into|in)\s+(?:an?\s+)?(?:pdf|word|docx|excel|xlsx|csv|powerpoint|pptx|spreadsheet|presentation|document|file)\b.*$/i

/**
 * Whether a line requests a document and is not part of one: `Make a report of this:`, not `Draft budget 2026`. Above a
 * text without data, `Build a table for the garden` is a heading.
 */
export const asksFor = (line: string, below = ''): boolean =>
  line.length <= MAX_REQUEST &&
  !(below.trim() && looksLikeHeading(line) && FURNITURE.test(line) && !holdsRows(below.slice(0, MAX_READ))) &&
  MADE.test(line) &&
  !NO_REQUEST.test(line.replace(MADE, '')) &&
  REQUEST.test(line) &&
  DETERMINED.test(line)

/** A request for something made of data, without a reference to the text below. */
const FURNITURE = new RegExp(
  `^(?!.*(?:\\b(?:this|these|those|following|below|it|${FILES})\\b|:$)).*\\b(?:table|chart|graph|sheet|workbook)s?\\b`,
  'i',
)

/** Whether any part of a text is a table, a list or values. */
const holdsRows = (text: string): boolean =>
  text
    .split(/\n[ \t]*\n/)
    .some(
      (part) =>
        /^\s*(?:[|[{\-*+•]|```|\d+[.)])/.test(part) || delimitedRows(part) || labelled(part) || pairRows(part.trim()),
    )

/** After a verb: `Draft of the report` is a heading, and so is `Write it down`. */
const NO_REQUEST =
  /^(?:of|in|for|to|at|by|on|off|up|down)\b|^(?:it|this|them)\s+(?:down|up|out|off|right|simple|yourself|happen|work|count|better|last|easy|real|new)\b/i

/**
 * Whether a line looks like a heading. A long line that ends with a colon introduces the text below. The limit is lower
 * for scripts without capitals, because their letters express more.
 */
export const looksLikeHeading = (line: string): boolean =>
  !/[\n[\]|`]/.test(line) &&
  !/[.!?,;。！？，、；：؟،؛।]$/.test(line.trim()) &&
  !(line.trim().endsWith(':') && line.trim().split(/\s+/).length > 5) &&
  (/^[\p{Lu}\p{N}]/u.test(line.trim()) ? line.length <= 70 : /^\p{Lo}.{0,29}$/u.test(line.trim()))

/** A title for a prompt: its heading as written, else the name or topic of a request. Strips only request words. */
export function titleOf(whole: string): string {
  const text = whole.slice(0, MAX_READ).trim()
  const [first = ''] = text.split('\n')
  const heading = /^#{1,6}[ \t]+/.exec(first)
  if (heading)
    return (
      shorten(
        first
          .slice(heading[0].length)
          .replace(/(?<=[ \t])#+$/, '')
          .trim(),
        MAX_TITLE,
      ) || NAMELESS
    )
  const isAlone = first === text
  const asks = isAlone ? MADE.test(first) : asksFor(first, text.slice(first.length))
  if (!asks && !isAlone && looksLikeHeading(first)) return shorten(first.replace(/:$/, ''), MAX_TITLE)
  const named = asks || isAlone ? NAMED.exec(text)?.[1]?.trim() : undefined
  if (named) return shorten(named, MAX_TITLE)
  const [sentence = ''] = text.split(/\n|(?<=[.!?])\s/)
  const [before = ''] = asks ? sentence.split(/:\s/) : [sentence]
  const about = asks ? ABOUT.exec(before.replace(TAIL, ''))?.[1] : undefined
  const rest = about ?? (asks || isAlone ? strip(before) : before)
  const words = rest
    .replace(WITH, '')
    .replace(TAIL, '')
    .replace(/(?<![\s:;,.!?-])[\s:;,.!?-]+$/, '')
    .trim()
  return words ? shorten(words[0]!.toUpperCase() + words.slice(1), MAX_TITLE) : NAMELESS
}

/** Removes the words that request a document and name its kind. */
function strip(sentence: string): string {
  let left = sentence.replace(MADE, '')
  if (left === sentence && !namesDocument(left)) return left
  for (let before = ''; before !== left; ) {
    before = left
    left = left.replace(KINDS, '').replace(THINGS, '').replace(LINKS, '')
  }
  return /^(?:(?:with|and)\b|(?:this|these|it|the following)\s*:?$)/i.test(left) ? '' : left
}

/** `a report on tides` names a document, `Presentation skills` and `The line of duty` do not. */
function namesDocument(words: string): boolean {
  const kinds = KINDS.exec(words)?.[0] ?? ''
  const rest = words.slice(kinds.length)
  const thing = THINGS.exec(rest)?.[0] ?? ''
  const isNamed = thing !== '' || FILE_LAST.test(kinds)
  return isNamed && LINKS.test(rest.slice(thing.length))
}
