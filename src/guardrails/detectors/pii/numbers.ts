import { remember } from '../../../kernel/remember'

/** One group of digits and where it stands. */
export type Group = { start: number; end: number }
/** Digits with blanks, dots, dashes, slashes and brackets between them. */
export type Run = { start: number; end: number; groups: readonly Group[]; digits: string }

const RUN = /[+(]{0,2}\d(?:[ ().\-/]{0,3}\d){5,40}/g

/** Everything that could be a number people know by heart or carry on a card. Linear: every digit is in one run. */
export const numberRuns = remember((text: string): readonly Run[] => {
  const runs: Run[] = []
  RUN.lastIndex = 0
  for (let match = RUN.exec(text); match; match = RUN.exec(text)) {
    const end = RUN.lastIndex
    if (!isInWord(text, match.index, end)) runs.push(runOf(text, match.index, end))
  }
  return runs
})

function runOf(text: string, start: number, end: number): Run {
  const groups: Group[] = []
  let digits = ''
  for (let at = start; at < end; at++) {
    if (!isDigit(text.charCodeAt(at))) continue
    const first = at
    while (at < end && isDigit(text.charCodeAt(at))) at++
    groups.push({ start: first, end: at })
    digits += text.slice(first, at)
  }
  return { start, end, groups, digits }
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57
const isLetter = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
/** Letters, digits and `_`. */
const isPart = (code: number): boolean => isDigit(code) || isLetter(code) || code === 95

/** A run that goes on as letters or as more digits is an id, a hash or an amount. */
function isInWord(text: string, start: number, end: number): boolean {
  const before = start > 0 ? text.charCodeAt(start - 1) : 32
  const after = end < text.length ? text.charCodeAt(end) : 32
  if (isPart(before) || before === 35 || isPart(after)) return true
  const parts = before === 44 || before === 46 || before === 58
  if (parts && start > 1 && isDigit(text.charCodeAt(start - 2))) return true
  return (after === 44 || after === 58) && /^\d{3}(?!\d)/.test(text.slice(end + 1, end + 5))
}

export const digitsOf = (text: string, { start, end }: Group): string => text.slice(start, end).replace(/\D/g, '')
