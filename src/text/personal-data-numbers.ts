import { remember } from './remember'

/** Start and end offset of a group of digits. */
export type Group = { start: number; end: number }
/** Digits with blanks, dots, dashes, slashes and brackets between them. */
export type Run = {
  start: number
  end: number
  groups: readonly Group[]
  /** How many digits all groups have. */
  digits: number
}

/**
 * Start and end offsets of all groups of digits, as a flat list. Every finder of numbers begins with these, so that
 * the rest of a text is read only once.
 */
export const digitGroups = remember((text: string): readonly number[] => {
  const groups: number[] = []
  for (let at = 0; at < text.length; at++) {
    if (!isDigit(text.charCodeAt(at))) continue
    const start = at
    while (at < text.length && isDigit(text.charCodeAt(at))) at++
    groups.push(start, at)
  }
  return groups
})

const MIN_DIGITS = 6
const MAX_DIGITS = 41
const MAX_BETWEEN = 3

/**
 * Everything that could be a phone or card number: at least six digits, with up to three separators between any two
 * and up to two of `+` and `(` before. Linear: every digit is in at most one run.
 */
export const numberRuns = remember((text: string): readonly Run[] => {
  const runs: Run[] = []
  const all = digitGroups(text)
  let groups: Group[] = []
  let digits = 0
  const close = () => {
    if (digits >= MIN_DIGITS) addRun(runs, text, groups, digits)
    groups = []
    digits = 0
  }
  for (let index = 0; index < all.length; index += 2) {
    let start = all[index]!
    const end = all[index + 1]!
    if (index > 0 && !isJoined(text, all[index - 1]!, start)) close()
    while (digits + end - start > MAX_DIGITS) {
      const cut = start + MAX_DIGITS - digits
      if (cut > start) groups.push({ start, end: cut })
      digits = MAX_DIGITS
      close()
      start = cut
    }
    groups.push({ start, end })
    digits += end - start
  }
  close()
  return runs
})

function addRun(runs: Run[], text: string, groups: readonly Group[], digits: number): void {
  const start = startOf(text, groups[0]!.start)
  const end = groups.at(-1)!.end
  if (!isInWord(text, start, end)) runs.push({ start, end, groups, digits })
}

/** Whether only separators stand between two offsets, and few of them. */
function isJoined(text: string, from: number, to: number): boolean {
  if (to - from > MAX_BETWEEN) return false
  for (let at = from; at < to; at++) if (!isBetween(text.charCodeAt(at))) return false
  return true
}

/** The start of a number, with up to two signs before its first digit. */
function startOf(text: string, digit: number): number {
  let start = digit
  while (start > 0 && digit - start < 2 && isBefore(text.charCodeAt(start - 1))) start--
  return start
}

/** `+` and `(`. */
const isBefore = (code: number): boolean => code === 43 || code === 40
/** Blank, brackets, dot, dash and slash. */
const isBetween = (code: number): boolean => code === 32 || code === 40 || code === 41 || (code >= 45 && code <= 47)
const isDigit = (code: number): boolean => code >= 48 && code <= 57
/** Letters, digits and `_`. */
const isPart = (code: number): boolean =>
  isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95

/** Whether a run continues as letters or more digits: then it is part of an id, a hash or an amount. */
function isInWord(text: string, start: number, end: number): boolean {
  const before = start > 0 ? text.charCodeAt(start - 1) : 32
  const after = end < text.length ? text.charCodeAt(end) : 32
  if (isPart(before) || before === 35 || isPart(after)) return true
  const parts = before === 44 || before === 46 || before === 58
  if (parts && start > 1 && isDigit(text.charCodeAt(start - 2))) return true
  return (after === 44 || after === 58) && /^\d{3}(?!\d)/.test(text.slice(end + 1, end + 5))
}

export const digitsOf = (text: string, { start, end }: Group): string => text.slice(start, end).replace(/\D/g, '')
