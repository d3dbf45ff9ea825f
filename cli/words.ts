import { iso } from '../src/kernel/clock'
import { MAX_CENTS } from '../src/kernel/money'
import { BadWord, usageFailure } from './failure'
import type { Shell } from './shell'

/** Parses a word of the command line into a value. `read` throws `BadWord` for an invalid word. */
export type Reading<T> = {
  about: string
  /** `before` is the value from an earlier use of the same flag. */
  read(word: string, before: T | undefined): T
  /** Turns the start of an id, as lists show it, or a name into the whole id. `input` holds the other words. */
  idFor?(shell: Shell, word: string, input: Words): Promise<string>
}

/** The words of a command line by the names of their arguments and flags. */
export type Words = Record<string, string | string[] | null | undefined>

/** A flag of one command. Its name is its key in kebab case. */
export type Flag<T = unknown> = Reading<T> & {
  /** Placeholder after the flag in help, `NAME`. Absent for a switch. */
  value?: string
  /** The allowed words, for help, completion and error messages. */
  words?: readonly string[]
  /** The one-letter form, only from `-o -f -q -y -v -w -n -h`. */
  short?: string
  /** The environment variable used when the flag is not given. */
  env?: string
  /** What to do when the flag is missing. Absent for flags that may be omitted. */
  needed?: string
}

export type Arg<T = unknown> = Reading<T> & {
  required: boolean
  /** Takes all remaining words. */
  variadic?: boolean
}

export type Flags = Record<string, Flag>
export type Args = Record<string, Arg>

type ValueOf<R> = R extends Reading<infer T> ? T : never
export type Input<A extends Args, F extends Flags> = { [K in keyof A]: ValueOf<A[K]> } & {
  [K in keyof F]: ValueOf<F[K]>
}

/** The parsed values of a command's flags. */
export type FlagsGiven<F extends Flags> = Input<Record<never, never>, F>

/** The kinds of values that commands take. Each error message names the expected format. */

export const flag = (about: string): Flag<boolean> => ({ about, read: (word) => !['0', 'false', 'no'].includes(word) })

export const text = (value: string, about: string): Flag<string | undefined> => ({ about, value, read: (word) => word })

/** Longer alternatives go into the explanation, which wraps. */
const MAX_SHOWN = 48

export const choice = <const Words extends readonly string[]>(
  words: Words,
  about: string,
): Flag<Words[number] | undefined> => {
  const all = words.join('|')
  return { about, value: all.length > MAX_SHOWN ? 'WORD' : all, words, read: (word) => pick(words, word) }
}

/** A comma-separated list `a,b,c` of allowed words. */
export const choices = <const Words extends readonly string[]>(
  words: Words,
  about: string,
): Flag<Words[number][] | undefined> => ({
  about,
  value: 'a,b',
  words,
  read: (word) => split(word).map((one) => pick(words, one)),
})

export const list = (value: string, about: string): Flag<string[] | undefined> => ({ about, value, read: split })

export const repeated = (value: string, about: string): Flag<string[] | undefined> => ({
  about: `${about} (may be repeated)`,
  value,
  read: (word, before) => [...(before ?? []), word],
})

export const whole = (
  value: string,
  about: string,
  { min, max }: { min: number; max: number },
): Flag<number | undefined> => ({
  about,
  value,
  read: (word) => {
    const number = Number(word)
    if (!/^-?\d+$/.test(word) || number < min || number > max) {
      throw new BadWord(`is "${word}"; it must be a whole number from ${min} to ${max}`)
    }
    return number
  },
})

/** The same flag, which also accepts `none` (null), for settings that can be removed. */
export const orNone = <T>(declared: Flag<T | undefined>): Flag<T | null | undefined> => ({
  ...declared,
  about: `${declared.about}; none removes it`,
  read: (word, before) => (word === 'none' ? null : declared.read(word, before ?? undefined)),
})

/** The same flag, which must be given. `fix` is shown when it is missing. */
export const needed = <T>(declared: Flag<T | undefined>, fix: string): Flag<T> =>
  ({ ...declared, needed: fix }) as Flag<T>

/** An amount in whole cents: `5.00` or `500c`. */
export const wholeCents = (value: string, about: string): Flag<number | undefined> => ({
  about,
  value,
  read: (word) => {
    const cents = readCents(word)
    if (Number.isInteger(cents)) return cents
    throw new BadWord(`is "${word}"; it must be whole cents`)
  },
})

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A duration such as `30s`, `24h`, `90d`, in milliseconds. */
export const duration = (value: string, about: string): Flag<number | undefined> => ({
  about,
  value,
  read: readDuration,
})

export function readDuration(word: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(word) ?? []
  if (!amount || !unit) throw new BadWord(`is "${word}"; write a number and a unit: 30s, 5m, 24h, 90d`)
  return Number(amount) * UNITS[unit]!
}

/** Turns `90d` (from now) or an ISO date into a timestamp for the API. @throws CommandFailed 2 */
export function moment(word: string, now: number): string {
  if (/^\d{4}-\d\d-\d\d/.test(word)) {
    const at = Date.parse(word)
    if (!Number.isNaN(at)) return iso(at)
  }
  try {
    return iso(now + readDuration(word))
  } catch (error) {
    if (error instanceof BadWord) throw usageFailure(`--expires ${error.message}.`)
    throw error
  }
}

export const argument = (about: string): Arg<string> => ({ about, required: true, read: (word) => word })

export const optional = (about: string): Arg<string | undefined> => ({ about, required: false, read: (word) => word })

/** One of these words. */
export const oneOf = <const Words extends readonly string[]>(words: Words, about: string): Arg<Words[number]> => ({
  about,
  required: true,
  read: (word) => pick(words, word),
})

/** Any number of words. */
export const words = (about: string): Arg<string[]> => ({
  about,
  required: false,
  variadic: true,
  read: (word, before) => [...(before ?? []), word],
})

/**
 * An amount of credit: `50.00` is currency, `5000c` is cents, both with up to two decimals. A bare integer is ambiguous
 * and rejected (docs/operating.md 2.16). Returns cents.
 */
export const money = (about: string): Arg<number> => ({ about, required: true, read: readCents })

function readCents(word: string): number {
  const [, cents] = /^(\d+(?:\.\d{1,6})?)c$/.exec(word) ?? []
  if (cents) return positive(word, Number(cents))
  const [, currency] = /^(\d+\.\d{2})$/.exec(word) ?? []
  if (currency) return positive(word, Math.round(Number(currency) * 100))
  if (/^\d+$/.test(word)) {
    throw new BadWord(`is "${word}", without a unit; write ${word}.00 for currency or ${word}c for cents`)
  }
  throw new BadWord(`is "${word}"; write 50.00 for currency or 5000c for cents`)
}

/** Like `money`, with a sign: `-5.00` or `+500c`. Without a sign it adds. Returns cents. */
export const signedMoney = (about: string): Arg<number> => ({
  about,
  required: true,
  read: (word) => {
    const [, sign = '', sum = ''] = /^([+-]?)(.*)$/.exec(word) ?? []
    return (sign === '-' ? -1 : 1) * readCents(sum)
  },
})

function positive(word: string, cents: number): number {
  if (cents > 0 && cents <= MAX_CENTS) return cents
  throw new BadWord(`is "${word}"; it must be above zero and at most ${MAX_CENTS / 100}.00`)
}

const split = (word: string): string[] => {
  const parts = word
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
  if (!parts.length) throw new BadWord('is an empty list; write words with commas between them: a,b,c')
  return parts
}

function pick<Words extends readonly string[]>(words: Words, word: string): Words[number] {
  if (words.includes(word)) return word
  throw new BadWord(`is "${word}"; it must be one of ${words.join(', ')}`)
}

/** Number of existing items that a tail shows first. */
export const LAST = whole('N', 'first show this many existing ones; 10 by default', { min: 0, max: 100 })
