/** Maximum number of steps of one check: about 50 ns each, a tenth of a second in total. */
const STEPS = 2_000_000

/** A check exceeded its budget: exponential self-references, or a pattern over a long text (docs/attacks.md B31). */
export class OutOfFuel extends Error {
  override name = 'OutOfFuel'
}

let left = 0

/** A check is synchronous, so all checks share one counter, which is reset when each begins. */
export const refuel = (): void => {
  left = STEPS
}

/** Steps since the last `refuel`. */
export const spent = (): number => STEPS - left

/** @throws OutOfFuel */
export function spend(steps: number): void {
  left -= steps
  if (left < 0) throw new OutOfFuel()
}
