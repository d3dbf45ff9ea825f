/** What can be looked for, in the words of contract 12. */
export const ENTITIES = ['email', 'phone', 'credit_card', 'ssn', 'iban', 'ip_address', 'address', 'name'] as const
export type Entity = (typeof ENTITIES)[number]

/** Offsets in the text it was given. */
export type Place = { start: number; end: number }
export type Find = (text: string) => Place[]

/** Whether the words before a place, on its line, speak of what it would be; `context` ends in `$`. */
export const follows = (text: string, start: number, context: RegExp, reach = 40): boolean =>
  context.test(text.slice(Math.max(0, start - reach), start))
