/** Much longer than any wait takes, even on a machine five times slower, and shorter than the timeout of a test. */
const PATIENCE_MS = 60_000

/**
 * Polls `ask` until `holds` is true and returns the last result; after `withinMs` it fails with the last result. Pass
 * `withinMs` only when the test is about that limit.
 */
export async function eventually<T>(
  ask: () => T | Promise<T>,
  holds: (seen: T) => boolean = Boolean,
  withinMs = PATIENCE_MS,
): Promise<T> {
  const until = performance.now() + withinMs
  for (;;) {
    const seen = await ask()
    if (holds(seen)) return seen
    if (performance.now() > until) throw new Error(`still ${JSON.stringify(seen)} after ${withinMs} ms`)
    await Bun.sleep(5)
  }
}
