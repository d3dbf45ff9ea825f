/** Maximum number of steps of one check: about 50 ns each, a tenth of a second in total. */
const STEPS = 2_000_000

/** A check exceeded its budget: exponential self-references, or a pattern over a long text (docs/attacks.md B31). */
export class OutOfFuel extends Error {
  override name = 'OutOfFuel'
}

let remaining = 0

/** A check is synchronous, so all checks share one counter, which is reset when each begins. */
export const refuel = (): void => {
  remaining = STEPS
}

/** Steps since the last `refuel`. */
export const spent = (): number => STEPS - remaining

/** @throws OutOfFuel */
export function spend(steps: number): void {
  remaining -= steps
  if (remaining < 0) throw new OutOfFuel()
}
