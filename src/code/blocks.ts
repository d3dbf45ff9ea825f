import { kindOf, languageOf, languageOfName } from './languages'
import { safePath } from './paths'

/** Most files of one answer; further blocks of code stay in the text only. */
const MOST = 20

/** An opening fence: three marks or more, and what is said of the block. */
const OPENING = /^ {0,3}(`{3,}(?!`)|~{3,}(?!~))([^`]*)$/
/** The language, if it is told, and what else is said. */
const SAID = /^[ \t]*([\w+#./-]{0,150})([\s\S]*)$/

/** One block of code of an answer. */
export type CodeBlock = {
  /** As the answer names it, a path below the project; else made of its place and language. */
  path: string
  /** Whether the answer names it. */
  named: boolean
  /** The usual name; empty when it is not known. */
  language: string
  content: string
}

type Fence = { word: string; rest: string; before: string; content: string }

/** The fenced blocks of code in an answer, in order (contract 2.3). An unclosed fence is none. */
export function codeBlocks(text: string): CodeBlock[] {
  const taken = new Set<string>()
  return fencesIn(text).map((fence, place) => {
    const wanted = nameOf(fence)
    const isTaken = wanted !== null && taken.has(wanted.toLowerCase())
    const name = isTaken ? null : wanted
    if (name) taken.add(name.toLowerCase())
    // What has folders is a path, if not a good one.
    const said = fence.word.includes('/') || isName(fence.word) ? '' : languageOf(fence.word)
    const language = said || (name ? languageOfName(name) : '')
    const { extension } = kindOf(language)
    return { path: name ?? `code-${place + 1}.${extension}`, named: name !== null, language, content: fence.content }
  })
}

function fencesIn(text: string): Fence[] {
  const found: Fence[] = []
  let before = ''
  let open: (Omit<Fence, 'content'> & { marks: string; lines: string[] }) | null = null
  for (const line of text.split('\n')) {
    if (open && closes(line, open.marks)) {
      const { word, rest, before: above, lines } = open
      if (lines.some((one) => one.trim())) found.push({ word, rest, before: above, content: lines.join('\n') })
      if (found.length === MOST) return found
      open = null
      before = ''
    } else if (open) open.lines.push(line)
    else {
      const [, marks, said = ''] = OPENING.exec(line) ?? []
      const [, word = '', rest = ''] = SAID.exec(said) ?? []
      if (marks) open = { marks, word: isName(word) ? word : word.toLowerCase(), rest, before, lines: [] }
      else if (line.trim()) before = line.trim()
    }
  }
  return found
}

/** A closing fence repeats the opening mark at least as often and has nothing else on its line. */
function closes(line: string, marks: string): boolean {
  const end = line.trim()
  return end.length >= marks.length && end === marks[0]!.repeat(end.length)
}

const MOST_LINE = 300

const NAME =
  /^[\w@.()[\]-][\w@./()[\] -]{0,150}\.[A-Za-z0-9]{1,10}$|^(?:[\w.-]+\/)*(?:Dockerfile|Makefile|LICENSE|\.[a-z]{2,20})$/
const isName = (word: string): boolean => /[./]/.test(word) && NAME.test(safePath(word) ?? '')

/** The name that an answer gives a block: behind the language, above the block, or in its first comment. */
function nameOf({ word, rest, before, content }: Fence): string | null {
  const told = /(?:title|file(?:name)?|path)\s*=\s*["']?([^"'\s]+)/i.exec(rest)?.[1] ?? rest.trim().replace(/^:/, '')
  // `Here is **src/a.ts**:`, `### src/a.ts`, `File: a.ts`: a line that is little more than the name, which is short.
  const above = /^(?:#{1,6}\s*)?(?:\d+[.)]\s*)?(?:file(?:name)?\s*:?\s*)?[`*_"]*([^\s`*"]+?)[`*_"]*\s*:?$/i.exec(
    before.slice(0, MOST_LINE),
  )?.[1]
  const marked = /[`*]{1,3}([^\s`*]+)[`*]{1,3}\s*:?$/.exec(before)?.[1]
  const [first = ''] = content.split('\n')
  const comment = /^\s*(?:\/\/|#|--|;|<!--|\/\*)\s*(?:file(?:name)?:\s*)?(\S+?)\s*(?:-->|\*\/)?$/i.exec(first)?.[1]
  for (const name of [isName(word) ? word : '', told, above, marked, comment]) {
    const path = name ? safePath(name) : null
    if (path && NAME.test(path)) return path
  }
  return null
}
