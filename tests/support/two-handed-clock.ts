import { fakeClock } from './clock'

/** Time with both hands in the test's own: `advance` lets it pass, `jump` moves only what the wall says. */
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
