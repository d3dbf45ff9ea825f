/** Work that checking one call's arguments may cost, in steps of about 50 ns: a tenth of a second. */
const STEPS = 2_000_000

/** Checking costs more than it may: a schema that multiplies itself, a pattern over a long text (B31). */
export class OutOfFuel extends Error {
  override name = 'OutOfFuel'
}

let left = 0

/** Checking never waits for anything, so one tank serves all: it is filled at the start of each check. */
export const refuel = (): void => {
  left = STEPS
}

/** Steps since the tank was filled. */
export const spent = (): number => STEPS - left

/** @throws OutOfFuel */
export function spend(steps: number): void {
  left -= steps
  if (left < 0) throw new OutOfFuel()
}
