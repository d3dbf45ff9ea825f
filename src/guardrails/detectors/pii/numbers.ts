import { remember } from '../../../kernel/remember'

/** One group of digits and where it stands. */
export type Group = { start: number; end: number }
/** Digits with blanks, dots, dashes, slashes and brackets between them. */
export type Run = { start: number; end: number; groups: readonly Group[]; digits: string }

const RUN = /[+(]{0,2}\d(?:[ ().\-/]{0,3}\d){5,40}/g
const GROUP = /\d+/g

/** Everything that could be a number people know by heart or carry on a card. Linear: every digit is in one run. */
export const numberRuns = remember((text: string): readonly Run[] => {
  const runs: Run[] = []
  for (const { 0: hit, index } of text.matchAll(RUN)) {
    const start = index
    const end = start + hit.length
    if (isInWord(text, start, end)) continue
    const groups = [...hit.matchAll(GROUP)].map(({ 0: digits, index: at }) => {
      return { start: start + at, end: start + at + digits.length }
    })
    runs.push({ start, end, groups, digits: hit.replace(/\D/g, '') })
  }
  return runs
})

/** A run that goes on as letters or as more digits is an id, a hash or an amount. */
const isInWord = (text: string, start: number, end: number): boolean =>
  /[A-Za-z0-9_#]/.test(text[start - 1] ?? ' ') ||
  /[A-Za-z0-9_]/.test(text[end] ?? ' ') ||
  /\d[,.:]$/.test(text.slice(Math.max(0, start - 2), start)) ||
  /^[,:]\d{3}(?!\d)/.test(text.slice(end, end + 5))

export const digitsOf = (text: string, { start, end }: Group): string => text.slice(start, end).replace(/\D/g, '')
