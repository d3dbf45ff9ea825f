import { superLinear, worstOf } from './measure'

/**
 * Reads a list of patterns from its input, and prints one line of JSON for each: a text on which its time is not
 * linear, or null; for one with `chars` the longest time for so many. Run as a process, because a pattern may never
 * end.
 */
for (const { source, flags, chars } of await Bun.stdin.json()) {
  const found = chars === undefined ? superLinear(source, flags) : worstOf(source, flags, chars)
  process.stdout.write(`${JSON.stringify(found)}\n`)
}
