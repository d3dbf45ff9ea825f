import { fakeClock } from './clock'

/** A fake clock where `advance` lets time pass and `jump` moves only the wall clock. */
export function twoHandedClock() {
  const clock = fakeClock()
  let offset = 0
  return {
    ...clock,
    now: () => clock.now() + offset,
    jump: (ms: number) => {
      offset += ms
    },
  }
}
