/** Reads what comments, tests and pages cite, and what the files in docs/ have for it. */

export type Text = { file: string; text: string }
export type Citation = { file: string; cited: string }

/** The pages with numbered sections. */
export const SECTIONED = ['docs/api.md', 'docs/design.md', 'docs/operating.md']

const LABEL = String.raw`(?:I-?\d{1,2}|[A-HJ-S]\d{1,2})`
const NUMBER = String.raw`\d+(?:\.\d+)*`
const SECTIONS = new RegExp(
  String.raw`\b(?:docs/)?((?:api|design|operating)\.md) (${NUMBER})((?:(?:, | and | to |–)${NUMBER}(?![\w-]))*)`,
  'g',
)
const LABELS = new RegExp(
  String.raw`\bdocs/(?:promises|attacks)\.md ${LABEL}(?:(?:, | and | or |–)${LABEL})*(?![\w-])`,
  'g',
)
/** Documents that are not in this repository, or a name that no file has: what cites them leads nowhere. */
const ELSEWHERE =
  /\b(?:contract|design|dx|console|catalogue|reliability|stack|spec|style|features)(?:\.md)? (?:section )?(?=[A-Z]?-?\d)(?<!docs\/design\.md )[\w.-]*|\b(?:contract|dx|reliability|stack|spec|style|features)\.md\b/g
const IN_COMMENT = new RegExp(String.raw`(?<![\w.$&/%#–-])${LABEL}(?:(?:–)${LABEL})?(?![\w-])`, 'g')
/** A test's name begins with its row, or has it in brackets; a row of a table is `id: 'B14'`. */
const BEGINS_TEXT = new RegExp(String.raw`(?<=['"\`])${LABEL}(?:,? ${LABEL})*(?=[ :,'"\`])`, 'g')
const IN_BRACKETS = new RegExp(String.raw`\((?:[^()]*[ ,])?${LABEL}(?:[ ,–][^()]*)?\)`, 'g')

const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([found]) => found)

/** Comments of a source without quoted code, each on one line. */
const commentsOf = (text: string): string =>
  all(text, /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*(?:\n\s*\/\/.*)*/gm)
    .map((comment) => oneLine(comment).replace(/`[^`]*`/g, '``'))
    .join('\n')

const oneLine = (text: string): string => text.replace(/\n\s*(?:\*(?!\/)|\/\/)?\s*/g, ' ')

const splitLabels = (text: string): string[] => all(text, new RegExp(String.raw`(?<![\w.-])${LABEL}(?![\w-])`, 'g'))

/** Sections by document, such as `docs/api.md 14.3`. */
export function sectionsCited({ file, text }: Text): Citation[] {
  return [...oneLine(text).matchAll(SECTIONS)].flatMap(([, document, first, more]) =>
    [first!, ...all(more!, new RegExp(NUMBER, 'g'))].map((section) => ({
      file,
      cited: `docs/${document} ${section}`,
    })),
  )
}

/** Promises and rows of the catalogue, such as `I15` and `B14`. */
export function labelsCited({ file, text }: Text): Citation[] {
  const messages = all(commentsOf(text), IN_COMMENT)
  const tested = file.startsWith('tests/') ? [...all(text, BEGINS_TEXT), ...all(text, IN_BRACKETS)] : []
  return [...new Set([...messages, ...tested].flatMap(splitLabels))].map((cited) => ({ file, cited }))
}

export const elsewhereCited = ({ file, text }: Text): Citation[] =>
  all(oneLine(text), ELSEWHERE).map((cited) => ({ file, cited }))

/** Codes in comments without the page that has them. */
export const bareCodes = ({ file, text }: Text): Citation[] =>
  all(commentsOf(text).replace(LABELS, ''), IN_COMMENT).map((cited) => ({ file, cited }))

/** Numbers and labels of headings (`### 14.3 Signature`) and of the first cells of tables (`| B14 |`). */
export const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^(?:#{2,4} |\| )(\d+\.\d+(?:\.\d+)*|\d+(?=\. )|I-?\d+|[A-HJ-S]\d+)(?:\.? | \|)/gm)].map(
    ([, anchor]) => anchor!,
  )

/** The anchors that a reader of Markdown makes of headings. */
export const slugsOf = (text: string): string[] =>
  all(text, /^#{1,4} .*$/gm).map((heading) =>
    heading
      .replace(/^#+ /, '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

/** Targets of `[text](target)` that are files of this repository. */
export const linksOf = (text: string): string[] =>
  [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!).filter((target) => !/^[a-z]+:/.test(target))

/** Paths in backticks that name a file or folder. */
export const pathsOf = (text: string): string[] =>
  [...text.matchAll(/`((?:src|cli|tui|tests|drizzle|docs)\/[\w./-]+)`/g)].map(([, path]) => path!)

/** Sentences of prose, list items and cells; code counts as one word. */
export function sentencesOf(text: string): string[] {
  const blocks = text
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/^ {4}.*$/gm, '')
    .replace(/`[^`]*`/g, 'code')
    .replace(/<\/?[a-z][^>]*>/g, '\n\n')
    .replace(/^ +/gm, '')
    .split(/\n\n|\n(?=[-|#] |\d+\. |\|)|\|/)
  return blocks.flatMap((block) => block.replaceAll('\n', ' ').split(/(?<=[.!?])\s/))
}

export const wordsIn = (sentence: string): number =>
  sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
