/** Far longer than anything takes, even on a machine five times slower, and shorter than a test may. */
const PATIENCE_MS = 60_000

/**
 * Asks again and again until it holds, and answers what it saw then; fails after `withinMs` with what was
 * seen last. The limit is given only where it is what the test claims.
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
