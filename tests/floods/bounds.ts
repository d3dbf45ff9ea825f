import type { Cost } from './floods'

export const MOST_HEALTH_MS = { p99: 50, worst: 200 }
export const MOST_CALL_MS = 1_000

/** Whether a route held the server, or a call, for longer than it may on a machine that many times slower than usual. */
export const tooLong = ({ health, worst }: Cost, slower: number): boolean =>
  health.p99 > MOST_HEALTH_MS.p99 * slower ||
  health.worst > MOST_HEALTH_MS.worst * slower ||
  worst.ms > MOST_CALL_MS * slower
