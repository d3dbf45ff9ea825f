import { parse } from '@babel/parser'

/** Longer files are not checked: they are parsed on the event loop (I28). */
const MOST_CHARS = 100_000

/** What a parser says of a file; the line counts from 1, and is null where the parser tells none. */
export type Check = { status: 'ok' | 'error' | 'unchecked'; message: string | null; line: number | null }

const OK: Check = { status: 'ok', message: null, line: null }
const UNCHECKED: Check = { status: 'unchecked', message: null, line: null }

/** Checks the syntax of a file, of the languages there is a parser for here; nothing of it is run. */
export function checkSyntax(language: string, content: string): Check {
  const check = Object.hasOwn(PARSERS, language) ? PARSERS[language] : undefined
  if (!check || content.length > MOST_CHARS) return UNCHECKED
  try {
    check(content)
    return OK
  } catch (error) {
    return { status: 'error', ...problemIn(error) }
  }
}

const script = (plugins: ('typescript' | 'jsx')[]) => (content: string) => {
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
  // Aliases may unfold to far more than was written.
  yaml: (content) => (/(^|[\s:[{,-])[*&]\w/.test(content) ? undefined : Bun.YAML.parse(content)),
}

/** Only the parser of scripts tells a line of the file. */
function problemIn(error: unknown): Pick<Check, 'message' | 'line'> {
  const { message, loc } = error as { message?: string; loc?: { line?: number } }
  const [first = ''] = String(message ?? 'It cannot be parsed.').split('\n')
  return { message: first.replace(/(?:(?<!\s)\s+)?\(\d+:\d+\)$/, '').slice(0, 200), line: loc?.line ?? null }
}
