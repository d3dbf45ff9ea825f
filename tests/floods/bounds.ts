import type { Cost } from './floods'

export const MAX_HEALTH_MS = { p99: 50, worst: 200 }
export const MAX_CALL_MS = 1_000

/** Routes that draw, lay out or speak: what they make of a long text is worth its time, and has a bound of its own. */
const MAKERS = /\/(documents|images|images\/generations|audio\/tts|audio\/speech)$/
const MAX_MAKING_MS = 31_000

/**
 * Whether a route held the server, or a call, for longer than it may on a machine that many times slower than usual.
 */
export const tooLong = ({ route, health, worst }: Cost, slower: number): boolean =>
  health.p99 > MAX_HEALTH_MS.p99 * slower ||
  health.worst > MAX_HEALTH_MS.worst * slower ||
  worst.ms > (MAKERS.test(route) ? MAX_MAKING_MS : MAX_CALL_MS) * slower
