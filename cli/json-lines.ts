import { usageFailure } from './failure'

/**
 * The cases of a JSON Lines file. Empty lines and lines starting with # are skipped; a line that is not an object is
 * passed on as an empty one. @throws CommandFailed 2 for a file without cases
 */
export function casesOf<Case>(
  content: string,
  file: string,
  read: (fields: Record<string, unknown>, line: number) => Case,
): Case[] {
  const cases = content
    .split('\n')
    .flatMap((text, index) => (/^\s*(#|$)/.test(text) ? [] : [read(fieldsOf(text), index + 1)]))
  if (!cases.length) throw usageFailure(`${file} contains no cases.`, 'write one JSON object per line')
  return cases
}

function fieldsOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
