import type { TextSpan } from './schema'
/** The kinds of personal data that a rule may name (docs/api.md 12). */
export const ENTITIES = ['email', 'phone', 'credit_card', 'ssn', 'iban', 'ip_address', 'address', 'name'] as const
export type Entity = (typeof ENTITIES)[number]

export type Find = (text: string) => TextSpan[]

/** Whether the characters before `start`, up to `reach` of them, match `context`, which ends in `$`. */
export const follows = (text: string, start: number, context: RegExp, reach = 40): boolean =>
  context.test(text.slice(Math.max(0, start - reach), start))

/** Like `follows`, but reads back only to the start of the line or the nearest digit. */
export function followsWord(text: string, start: number, context: RegExp, reach = 40): boolean {
  const min = Math.max(0, start - reach)
  let from = start
  while (from > min && !isCut(text.charCodeAt(from - 1))) from--
  // Includes the previous character, so that `\b` can detect a word start there.
  return context.test(text.slice(Math.max(min, from - 1), start))
}

const isCut = (code: number): boolean => code === 10 || (code >= 48 && code <= 57)
