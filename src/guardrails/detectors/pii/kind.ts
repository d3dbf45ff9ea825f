/** What can be looked for, in the words of contract 12. */
export const ENTITIES = ['email', 'phone', 'credit_card', 'ssn', 'iban', 'ip_address', 'address', 'name'] as const
export type Entity = (typeof ENTITIES)[number]

/** Offsets in the text it was given. */
export type Place = { start: number; end: number }
export type Find = (text: string) => Place[]

/** Whether what stands before a place speaks of what it would be; `context` ends in `$`. */
export const follows = (text: string, start: number, context: RegExp, reach = 40): boolean =>
  context.test(text.slice(Math.max(0, start - reach), start))

/** The same of words on its line with no other number between: no more of the text is looked at than these. */
export function followsWord(text: string, start: number, context: RegExp, reach = 40): boolean {
  const least = Math.max(0, start - reach)
  let from = start
  while (from > least && !isCut(text.charCodeAt(from - 1))) from--
  // With what cuts it off, which says whether a word begins there.
  return context.test(text.slice(Math.max(least, from - 1), start))
}

const isCut = (code: number): boolean => code === 10 || (code >= 48 && code <= 57)
