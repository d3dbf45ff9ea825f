import { type DestinationStream, type Logger, pino } from 'pino'
import { scrub } from './text'

export type Log = Logger

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

type Options = { level: (typeof LOG_LEVELS)[number]; pretty: boolean; write(line: string): void }

/** Creates the log: one JSON object per line, or readable lines if `pretty`. Secrets are scrubbed from each line. */
export function createLog({ level, pretty, write }: Options): Log {
  const destination: DestinationStream = {
    write: (line: string) => write(scrub(pretty ? readable(line) : line)),
  }
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination)
}

const LEVEL_WORDS: Record<number, string> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error' }

function readable(line: string): string {
  const { level, time, msg, ...fields } = JSON.parse(line) as Record<string, unknown>
  const word = (LEVEL_WORDS[level as number] ?? String(level)).padEnd(5)
  const rest = Object.entries(fields).map(
    ([name, value]) =>
      `${name}=${typeof value === 'string' && !/[\s"\p{Cc}]/u.test(value) ? value : (JSON.stringify(value) ?? '')}`,
  )
  return `${String(time).slice(11, 23)} ${word} ${[msg, ...rest].filter(Boolean).join('  ')}\n`
}

/** An error as log fields: its message, stack and cause. For anything but an Error only its text. */
export function errorFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: String(error) }
  const { query, cause } = error as Error & { query?: unknown }
  // A failed query contains its values, which may be prompts and secrets. The driver's own message contains none.
  if (typeof query === 'string' && cause instanceof Error) return { ...errorFields(cause), query }
  return { error: error.message, stack: error.stack, ...(cause ? { cause: causeOf(cause) } : {}) }
}

const causeOf = (cause: unknown): string => {
  const { error } = errorFields(cause)
  return cause instanceof Error ? `${cause.name}: ${error}` : String(error)
}
