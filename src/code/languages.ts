/** File extension and media type by language; any other language is stored as plain text. */
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

/** The usual name of a language; a word that is none is returned as it is. */
export const languageOf = (word: string): string => own(ALIASES, word) ?? word

/** The language of a file by its ending; an empty text for an ending that tells none. */
export function languageOfName(name: string): string {
  const ending = (/\.([a-z0-9]+)$/i.exec(name)?.[1] ?? '').toLowerCase()
  const language = languageOf(ending)
  return own(KINDS, language) ? language : (BY_EXTENSION.get(ending) ?? '')
}

/** The ending and the media type of a file in a language. */
export const kindOf = (language: string): { extension: string; mimeType: string } => {
  const [extension, mimeType] = own(KINDS, language) ?? ['txt', 'text/plain']
  return { extension, mimeType }
}

/** Own members only, because an engine may label a fence `constructor`. */
const own = <T>(table: Record<string, T>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined
