/** Internal amounts are always an integer number of micro-cents: 1 cent = 1,000,000 (docs/design.md 1.5). */
export const MICRO_PER_CENT = 1_000_000

/** Limit of one transfer and of a wallet: 90 million in currency, still exact to the micro-cent as a number. */
export const MAX_CENTS = 9_000_000_000

export const centsToMicro = (cents: number): number => Math.round(cents * MICRO_PER_CENT)

/** Cents for the wire, possibly fractional, exact to the micro-cent. */
export const microToCents = (micro: number): number => micro / MICRO_PER_CENT

/** Cents as a plain decimal number such as `0.000001`, for files that programs read. */
export const plainCents = (micro: number): string =>
  microToCents(micro)
    .toFixed(6)
    .replace(/(?:\.|(?<!0))0+$/, '')

/** Cents for a sentence: two places, `0.12`, and up to six for amounts below a hundredth of a cent. */
export function spellCents(micro: number): string {
  const cents = microToCents(micro)
  if (cents !== 0 && Math.abs(cents) < 0.01) return cents.toFixed(6).replace(/(?<!0)0+$/, '')
  return cents.toFixed(2)
}
