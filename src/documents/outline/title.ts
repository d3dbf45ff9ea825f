import { shorten } from '../../kernel/text'

const MOST_TITLE = 90
/** A title is told early. */
const MOST_READ = 1_000

const NAMED = /\b(?:titled|entitled|called|named|with the title|title\s*[:=])\s*["“'«]?([^"”'»\n.;]{2,90})["”'»]?/i
/** What the document is about, in a sentence that asks for one. */
const ABOUT = /\b(?:about|regarding|covering|describing|explaining|on the subject of|on)\s+(.{2,})$/i
const MADE =
  /^(?:please\s+)?(?:can you\s+|could you\s+)?(?:create|make|write|generate|prepare|produce|draft|build|give me|export|turn|put|convert)\b\s*(?:me\s+)?/i
const KINDS =
  /^(?:(?:the following|this|these|it|an?|the|my|our|into|one[- ]page|short|brief|detailed|new|bar|pie|line|area|pdf|word|docx|excel|xlsx|csv|powerpoint|pptx|markdown)\s+)+/i
const THINGS =
  /^(?:document|file|report|presentation|deck|slides?(?:\s+deck)?|slideshow|spreadsheet|workbook|sheet|table|chart|graph|paper|letter|memo|text|notes?|list|data|outline)\b\s*/i
const LINKS = /^(?:about|on|of|for|regarding|covering|that|which|from|with|describing|explaining|out of)\b\s*/i
const WITH =
  /\bwith\s+(?:the\s+)?(?:following\s+)?(?:sections?|columns?|fields?|chapters?|slides|an?\s+(?:\w+\s+)?(?:chart|table|graph))\b.*$/i
const TAIL =
  /(?<!\s)\s+(?:as|into|in)\s+(?:an?\s+)?(?:pdf|word|docx|excel|xlsx|csv|powerpoint|pptx|spreadsheet|presentation|document|file)\b.*$/i

/** A title for what an instruction asks for: the one it names, else what it is about. */
export function titleOf(whole: string): string {
  // A heading is a title without its marks.
  const instruction = whole.slice(0, MOST_READ).replace(/^\s*#{1,6}[ \t]+/, '')
  const named = NAMED.exec(instruction)?.[1]?.trim()
  if (named) return shorten(named, MOST_TITLE)
  const [sentence = ''] = instruction.trim().split(/\n|(?<=[.!?])\s/)
  const asks = MADE.test(sentence)
  const [before = ''] = asks ? sentence.split(/:\s/) : [sentence]
  const about = asks ? ABOUT.exec(before.replace(TAIL, ''))?.[1] : undefined
  const rest = about ?? strip(before)
  const words = rest
    .replace(WITH, '')
    .replace(TAIL, '')
    .replace(/(?<![\s:;,.!?-])[\s:;,.!?-]+$/, '')
    .trim()
  return words ? shorten(words[0]!.toUpperCase() + words.slice(1), MOST_TITLE) : 'Document'
}

/** Without the words that ask for a document and name its kind. */
function strip(sentence: string): string {
  let left = sentence.replace(MADE, '')
  for (let before = ''; before !== left; ) {
    before = left
    left = left.replace(KINDS, '').replace(THINGS, '').replace(LINKS, '')
  }
  return /^(?:with|and)\b/i.test(left) ? '' : left
}
