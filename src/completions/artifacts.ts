import { type Artifact, ArtifactId } from '../files/schema'
import { iso } from '../kernel/clock'
import type { ModelRef } from './schema'

/** Most artifacts of one answer; further blocks of code stay in the text only. */
const MOST = 20

/** An opening fence: three marks or more, then optionally the language. */
const OPENING = /^ {0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]{0,32})/

/** File extension and media type by language; any other language is stored as plain text. */
const KINDS: Record<string, readonly [extension: string, mimeType: string]> = {
  bash: ['sh', 'application/x-sh'],
  c: ['c', 'text/x-c'],
  cpp: ['cpp', 'text/x-c++'],
  csharp: ['cs', 'text/x-csharp'],
  css: ['css', 'text/css'],
  csv: ['csv', 'text/csv'],
  diff: ['diff', 'text/x-diff'],
  go: ['go', 'text/x-go'],
  html: ['html', 'text/html'],
  java: ['java', 'text/x-java'],
  javascript: ['js', 'text/javascript'],
  json: ['json', 'application/json'],
  jsx: ['jsx', 'text/jsx'],
  kotlin: ['kt', 'text/x-kotlin'],
  markdown: ['md', 'text/markdown'],
  php: ['php', 'text/x-php'],
  python: ['py', 'text/x-python'],
  ruby: ['rb', 'text/x-ruby'],
  rust: ['rs', 'text/x-rust'],
  sql: ['sql', 'application/sql'],
  swift: ['swift', 'text/x-swift'],
  toml: ['toml', 'application/toml'],
  tsx: ['tsx', 'text/tsx'],
  typescript: ['ts', 'text/x-typescript'],
  xml: ['xml', 'application/xml'],
  yaml: ['yaml', 'application/yaml'],
}

const ALIASES: Record<string, string> = {
  'c#': 'csharp',
  'c++': 'cpp',
  cs: 'csharp',
  golang: 'go',
  js: 'javascript',
  kt: 'kotlin',
  md: 'markdown',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'bash',
  shell: 'bash',
  ts: 'typescript',
  yml: 'yaml',
  zsh: 'bash',
}

type Maker = { model: ModelRef; createdAt: number }

/** The fenced blocks of code in an answer, each as an artifact (contract 2.3). An unclosed fence makes no artifact. */
export function codeArtifacts(text: string, { model, createdAt }: Maker): Artifact[] {
  return fencesIn(text).map(({ word, content }, place) => {
    const language = own(ALIASES, word) ?? word
    const [extension, mimeType] = own(KINDS, language) ?? ['txt', 'text/plain']
    return {
      id: ArtifactId.create(),
      type: 'code',
      title: null,
      filename: `code-${place + 1}.${extension}`,
      mime_type: mimeType,
      url: null,
      url_expires_at: null,
      size_bytes: Buffer.byteLength(content),
      content,
      language: language || null,
      format: null,
      width: null,
      height: null,
      duration_seconds: null,
      engine: model.engine,
      model: model.id,
      prompt: null,
      created: iso(createdAt),
    }
  })
}

/** Own members only, because an engine may label a fence `constructor`. */
const own = <T>(table: Record<string, T>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

type Fence = { word: string; content: string }

function fencesIn(text: string): Fence[] {
  const found: Fence[] = []
  let open: { marks: string; word: string; lines: string[] } | null = null
  for (const line of text.split('\n')) {
    if (open && closes(line, open.marks)) {
      if (open.lines.some((one) => one.trim())) found.push({ word: open.word, content: open.lines.join('\n') })
      if (found.length === MOST) return found
      open = null
    } else if (open) open.lines.push(line)
    else {
      const [, marks, word] = OPENING.exec(line) ?? []
      if (marks) open = { marks, word: (word ?? '').toLowerCase(), lines: [] }
    }
  }
  return found
}

/** A closing fence repeats the opening mark at least as often and has nothing else on its line. */
function closes(line: string, marks: string): boolean {
  const end = line.trim()
  return end.length >= marks.length && end === marks[0]!.repeat(end.length)
}
