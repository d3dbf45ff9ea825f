import { strToU8, zipSync } from 'fflate'
import sanitize from 'sanitize-filename'
import { type ChargingService, promptIn, type Work } from '../charging'
import { type EngineService, type Message, originOf } from '../engines'
import type { About } from '../files/schema'
import type { Call } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { storable } from '../kernel/text'
import { type CodeCheck, CodeId, type CodeInput, type MadeCode } from './schema'

/** File extension and media type by language. Any other language is stored as plain text. */
const KINDS: Record<string, readonly [extension: string, mimeType: string]> = {
  bash: ['sh', 'application/x-sh'],
  c: ['c', 'text/x-c'],
  cpp: ['cpp', 'text/x-c++'],
  csharp: ['cs', 'text/x-csharp'],
  css: ['css', 'text/css'],
  csv: ['csv', 'text/csv'],
  diff: ['diff', 'text/x-diff'],
  dockerfile: ['Dockerfile', 'text/plain'],
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
  svelte: ['svelte', 'text/plain'],
  swift: ['swift', 'text/x-swift'],
  toml: ['toml', 'application/toml'],
  tsx: ['tsx', 'text/tsx'],
  typescript: ['ts', 'text/x-typescript'],
  vue: ['vue', 'text/plain'],
  xml: ['xml', 'application/xml'],
  yaml: ['yaml', 'application/yaml'],
}

const ALIASES: Record<string, string> = {
  'c#': 'csharp',
  'c++': 'cpp',
  cs: 'csharp',
  golang: 'go',
  htm: 'html',
  js: 'javascript',
  kt: 'kotlin',
  md: 'markdown',
  cjs: 'javascript',
  mjs: 'javascript',
  mts: 'typescript',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'bash',
  shell: 'bash',
  ts: 'typescript',
  yml: 'yaml',
  zsh: 'bash',
}

const BY_EXTENSION = new Map(Object.entries(KINDS).map(([language, [extension]]) => [extension, language]))

/** The usual name of a language. Returns an unknown word unchanged. */
const languageOf = (word: string): string => own(ALIASES, word) ?? word

/** The file extension and media type for a language. */
export const kindOf = (language: string): { extension: string; mimeType: string } => {
  const [extension, mimeType] = own(KINDS, language) ?? ['txt', 'text/plain']
  return { extension, mimeType }
}

/** Reads own members only, because an engine may label a fence `constructor`. */
const own = <T>(table: Record<string, T>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

const MAX_PARTS = 12

const MAX_PATH_CHARS = 200

/** Maximum number of files in one answer. Further code blocks stay in the text only. */
const MAX = 20

/** An opening fence: at least three marks and the info string. */
const OPENING = /^ {0,3}(`{3,}(?!`)|~{3,}(?!~))([^`]*)$/

/** The language, if present, and the rest of the info string. */
const INFO_STRING = /^[ \t]*([\w+#./-]{0,150})([\s\S]*)$/

/** A code block in an answer. */
type CodeBlock = {
  /** The name in the answer as a path below the project folder, otherwise built from the position and language. */
  path: string
  /** Whether the answer names the file. */
  named: boolean
  /** The usual name of the language, or empty if unknown. */
  language: string
  content: string
}

type Fence = { word: string; rest: string; before: string; content: string }

const MAX_LINE = 300

const NAME =
  /^[\w@.()[\]-][\w@./()[\] -]{0,150}\.[A-Za-z0-9]{1,10}$|^(?:[\w.-]+\/)*(?:Dockerfile|Makefile|LICENSE|\.[a-z]{2,20})$/

const isName = (word: string): boolean => /[./]/.test(word) && NAME.test(safePath(word) ?? '')

/** Longer files are not checked, because parsing runs on the event loop (docs/promises.md I28). */
const MAX_CHARS = 100_000

/** The result of parsing a file. `line` counts from 1 and is null if the parser does not report one. */
type Check = Omit<CodeCheck, 'filename' | 'language'>

const script = (plugins: ('typescript' | 'jsx')[]) => (content: string) => {
  const { parse } = require('@babel/parser') as typeof import('@babel/parser')
  parse(content, {
    sourceType: 'unambiguous',
    allowReturnOutsideFunction: true,
    allowAwaitOutsideFunction: true,
    errorRecovery: false,
    plugins: [...plugins, 'decorators'],
  })
}

const PARSERS: Record<string, ((content: string) => unknown) | undefined> = {
  json: (content) => JSON.parse(content),
  javascript: script(['jsx']),
  jsx: script(['jsx']),
  typescript: script(['typescript']),
  tsx: script(['typescript', 'jsx']),
  toml: (content) => Bun.TOML.parse(content),
  // Aliases may expand to far more than the written text.
  yaml: (content) => (/(^|[\s:[{,-])[*&]\w/.test(content) ? undefined : Bun.YAML.parse(content)),
}

/** Parses the files of an answer. */
export const checksOf = (blocks: readonly CodeBlock[]): CodeCheck[] =>
  blocks.map(({ path, language, content }) => ({
    filename: path,
    language: language || null,
    ...checkSyntax(language, content),
  }))

/** One sentence for each file that does not parse. */
export const problemsIn = (checks: readonly CodeCheck[]): string[] =>
  checks.flatMap(({ filename, status, message, line }) =>
    status === 'error' ? [`${filename} does not parse${line === null ? '' : `, line ${line}`}: ${message}`] : [],
  )

type Deps = {
  clock: Clock
  engines: Pick<EngineService, 'answer' | 'countPrompt' | 'describe' | 'forMode' | 'isFree' | 'maxOutputTokens'>
  charging: Pick<ChargingService, 'run'>
}

export type CodeService = ReturnType<typeof createCode>

/** Maximum tokens of an answer, about 800 lines. */
const MAX_TOKENS = 8_192

const INSTRUCTIONS = [
  'You write code. Put every file into a fenced block of its own whose first line has the language and the path, as in',
  '```ts src/index.ts. Write files whole, so that they run as they are, with what they import declared in the usual file',
  'of the language. Say in a few sentences what was made and how to run it. Never invent libraries.',
].join('\n')

/** Code generation: an engine writes code, which is stored as files and checked by parsers (docs/api.md 6). */
export function createCode({ clock, engines, charging }: Deps) {
  return { create }

  /** Writes code for a prompt. Throws 400 `missing_prompt`, 503 `engine_unavailable`, and as `charging.run` throws. */
  function create(call: Call, input: CodeInput): Promise<MadeCode> {
    const id = CodeId.create()
    const engineId = engines.forMode('code')
    const { language, framework } = input
    const texts = {
      prompt: storable(promptIn(input)),
      ...(language?.trim() ? { language: storable(language) } : {}),
      ...(framework?.trim() ? { framework: storable(framework) } : {}),
    }
    const promptTokens = engines.countPrompt(messagesFor(texts))
    const completionTokens = Math.min(MAX_TOKENS, engines.maxOutputTokens(engineId))
    return charging.run(call, {
      kind: 'code',
      id,
      mode: 'code',
      engineId,
      free: engines.isFree(engineId),
      texts,
      max: { promptTokens, completionTokens },
      make: async (work) => {
        const written = await engines.answer(engineId, {
          messages: messagesFor(work.texts),
          mode: 'code',
          maxOutputTokens: completionTokens,
          origin: originOf(work.call),
          signal: work.signal,
        })
        const { text: content } = await work.guardOutput(storable(written.text), INSTRUCTIONS)
        const blocks = codeBlocks(content)
        const { promptTokens, completionTokens: stated } = written.usage
        return {
          used: { promptTokens, completionTokens: stated },
          engineId: written.engineId,
          free: written.free,
          files: await filesOf(work, blocks, { engineId: written.engineId, prompt: work.texts.prompt! }),
          content,
          checks: checksOf(blocks),
        }
      },
      answer: ({ made, artifacts, costCents, at }) => {
        const { promptTokens, completionTokens } = made.used
        const checked = made.checks.filter(({ status }) => status !== 'unchecked')
        const status = checked.every(({ status }) => status === 'ok') ? ('success' as const) : ('error' as const)
        return {
          id,
          object: 'code' as const,
          created: iso(at),
          content: made.content,
          artifacts,
          tools_used: checked.length ? [{ name: 'syntax_check', status }] : [],
          checks: made.checks,
          usage: {
            cost_cents: costCents,
            prompt_tokens: promptTokens,
            completion_tokens: completionTokens,
            total_tokens: promptTokens + completionTokens,
          },
        }
      },
    })
  }

  async function filesOf(work: Work, blocks: readonly CodeBlock[], by: { engineId: string; prompt: string }) {
    const { engine, id: model } = engines.describe(by.engineId)
    const files = []
    for (const { bytes, mimeType, about } of codeFiles(blocks, clock.now(), { engine, model, prompt: by.prompt }))
      files.push({ draft: await work.keep(bytes, mimeType), about })
    return files
  }
}

function messagesFor({ prompt = '', language, framework }: Readonly<Record<string, string>>): Message[] {
  const hints = [language && `Language: ${language}`, framework && `Framework: ${framework}`].filter(Boolean).join('\n')
  return [
    { role: 'system', content: INSTRUCTIONS },
    { role: 'user', content: [prompt, hints].filter(Boolean).join('\n\n') },
  ]
}

/**
 * The files of an answer: its code blocks, and one archive of them all if it names at least two. No path leads out of
 * the archive (docs/attacks.md O1).
 */
export function codeFiles(
  blocks: readonly CodeBlock[],
  createdAt: number,
  by: Pick<About, 'engine' | 'model' | 'prompt'>,
): { bytes: Uint8Array; mimeType: string; about: About }[] {
  const files = blocks.map(({ path, language, content }) => {
    const about: About = { type: 'code', filename: path, title: path, content, language: language || null, ...by }
    return { bytes: new TextEncoder().encode(content), mimeType: kindOf(language).mimeType, about }
  })
  if (blocks.filter(({ named }) => named).length < 2) return files
  const entries = blocks.map(({ path, content }) => [path, strToU8(`${content}\n`)] as const)
  const bytes = zipSync(Object.fromEntries(entries), { mtime: createdAt })
  const about: About = { type: 'file', filename: 'project.zip', title: 'project.zip', ...by }
  return [...files, { bytes, mimeType: 'application/zip', about }]
}

/** Checks the syntax of a file if there is a parser for its language. Never runs the file. */
export function checkSyntax(language: string, content: string): Check {
  const check = Object.hasOwn(PARSERS, language) ? PARSERS[language] : undefined
  if (!check || content.length > MAX_CHARS) return { status: 'unchecked', message: null, line: null }
  try {
    check(content)
    return { status: 'ok', message: null, line: null }
  } catch (error) {
    // Only the script parser reports a line of the file.
    const { message, loc } = error as { message?: string; loc?: { line?: number } }
    const [first = ''] = String(message ?? 'It cannot be parsed.').split('\n')
    const shown = first.replace(/(?:(?<!\s)\s+)?\(\d+:\d+\)$/, '').slice(0, 200)
    return { status: 'error', message: shown, line: loc?.line ?? null }
  }
}

/** The fenced code blocks of an answer, in order (docs/api.md 2.3). An unclosed fence is not a block. */
export function codeBlocks(text: string): CodeBlock[] {
  const taken = new Set<string>()
  return fencesIn(text).map((fence, place) => {
    const wanted = nameOf(fence)
    const isTaken = wanted !== null && taken.has(wanted.toLowerCase())
    const name = isTaken ? null : wanted
    if (name) taken.add(name.toLowerCase())
    // A word with a slash is a path, even if it is not a valid one.
    const text = fence.word.includes('/') || isName(fence.word) ? '' : languageOf(fence.word)
    const language = text || (name ? languageOfName(name) : '')
    const { extension } = kindOf(language)
    return { path: name ?? `code-${place + 1}.${extension}`, named: name !== null, language, content: fence.content }
  })
}

function fencesIn(text: string): Fence[] {
  const found: Fence[] = []
  let before = ''
  let open: (Omit<Fence, 'content'> & { marks: string; lines: string[] }) | null = null
  for (const line of text.split('\n')) {
    const end = line.trim()
    // A closing fence repeats the opening mark at least as often and has nothing else on its line.
    if (open && end.length >= open.marks.length && end === open.marks[0]!.repeat(end.length)) {
      const { word, rest, before: above, lines } = open
      if (lines.some((one) => one.trim())) found.push({ word, rest, before: above, content: lines.join('\n') })
      if (found.length === MAX) return found
      open = null
      before = ''
    } else if (open) open.lines.push(line)
    else {
      const [, marks, text = ''] = OPENING.exec(line) ?? []
      const [, word = '', rest = ''] = INFO_STRING.exec(text) ?? []
      if (marks) open = { marks, word: isName(word) ? word : word.toLowerCase(), rest, before, lines: [] }
      else if (end) before = end
    }
  }
  return found
}

/** The name that an answer gives a block: after the language, above the block, or in its first comment. */
function nameOf({ word, rest, before, content }: Fence): string | null {
  const attribute =
    /(?:title|file(?:name)?|path)\s*=\s*["']?([^"'\s]+)/i.exec(rest)?.[1] ?? rest.trim().replace(/^:/, '')
  // `Here is **src/a.ts**:`, `### src/a.ts`, `File: a.ts`: a short line with little more than the name.
  const above = /^(?:#{1,6}\s*)?(?:\d+[.)]\s*)?(?:file(?:name)?\s*:?\s*)?[`*_"]*([^\s`*"]+?)[`*_"]*\s*:?$/i.exec(
    before.slice(0, MAX_LINE),
  )?.[1]
  const marked = /[`*]{1,3}([^\s`*]+)[`*]{1,3}\s*:?$/.exec(before)?.[1]
  const [first = ''] = content.split('\n')
  const comment = /^\s*(?:\/\/|#|--|;|<!--|\/\*)\s*(?:file(?:name)?:\s*)?(\S+?)\s*(?:-->|\*\/)?$/i.exec(first)?.[1]
  for (const name of [isName(word) ? word : '', attribute, above, marked, comment]) {
    const path = name ? safePath(name) : null
    if (path && NAME.test(path)) return path
  }
  return null
}

/**
 * A relative path that stays in the project folder on any system: no `..`, root, drive or reserved name. Null when
 * nothing is left (docs/attacks.md O1).
 */
export function safePath(wanted: string): string | null {
  const parts = wanted
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .split(/[\\/]+/)
    .filter((part) => part && part !== '.' && part !== '..' && !/^[A-Za-z]:$/.test(part))
    .map((part) => sanitize(part, { replacement: '_' }).trim())
    .filter((part) => part && !/^\.+$/.test(part))
  const path = parts.slice(-MAX_PARTS).join('/')
  return path && path.length <= MAX_PATH_CHARS ? path : null
}

/** The language of a file by its extension, or an empty string if unknown. */
function languageOfName(name: string): string {
  const ending = (/\.([a-z0-9]+)$/i.exec(name)?.[1] ?? '').toLowerCase()
  const language = languageOf(ending)
  return own(KINDS, language) ? language : (BY_EXTENSION.get(ending) ?? '')
}
