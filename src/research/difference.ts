import { type Figure, figuresIn, isNegated } from './figures'

const OPPOSITES: readonly (readonly [RegExp, RegExp])[] = [
  [/\b(?:increas|rose|risen|grew|grow|gain)/i, /\b(?:decreas|fell|fallen|declin|shr[iau]nk|drop|lost)/i],
  [/\b(?:safe|harmless)\b/i, /\b(?:unsafe|harmful|dangerous)\b/i],
  [/\b(?:allow|permit|legal)/i, /\b(?:forbid|prohibit|ban|illegal)/i],
  [/\bopen(?:s|ed)?\b/i, /\bclose[sd]\b/i],
  [/\b(?:true|correct|confirmed)\b/i, /\b(?:false|wrong|incorrect|denied|disproved)\b/i],
]

/** The contradiction between two sentences on one subject. Null when both can be correct. */
export function differenceOf(one: string, other: string): string | null {
  const apart = figureApart(figuresIn(one), figuresIn(other))
  if (apart) return apart
  if (isNegated(one) !== isNegated(other)) return 'one says that it is not so'
  const isTurned = OPPOSITES.some(([a, b]) => turns(a, b, one, other) || turns(b, a, one, other))
  return isTurned ? 'they say the opposite' : null
}

const turns = (a: RegExp, b: RegExp, one: string, other: string): boolean =>
  a.test(one) && !b.test(one) && b.test(other) && !a.test(other)

/** The first unit for which both have numbers, but no common value. */
function figureApart(ours: readonly Figure[], theirs: readonly Figure[]): string | null {
  for (const { unit } of ours) {
    const own = valuesOf(ours, unit)
    const others = valuesOf(theirs, unit)
    // Rounding is not a contradiction, except for years.
    if (
      !others.length ||
      own.some((value) =>
        others.some(
          (stated) =>
            value === stated ||
            (unit !== 'year' && Math.abs(value - stated) <= 0.005 * Math.max(Math.abs(value), Math.abs(stated))),
        ),
      )
    )
      continue
    return `${own.join(', ')} and ${others.join(', ')}${unit ? ` (${unit})` : ''}`
  }
  return null
}

const valuesOf = (figures: readonly Figure[], unit: string): number[] =>
  figures.filter((one) => one.unit === unit).map(({ value }) => value)
