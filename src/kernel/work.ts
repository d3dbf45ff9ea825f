import { AsyncLocalStorage } from 'node:async_hooks'

const works = new AsyncLocalStorage<Map<object, unknown>>()

/**
 * Runs one piece of work, such as a request or a run of a job. What it reads with {@link sameInWork} stays as it was at
 * its first read until its end, that of its stream included.
 */
export const asOneWork = <Args extends unknown[], T>(work: (...args: Args) => T, ...args: Args): T =>
  works.run(new Map(), work, ...args)

/** What `read` answered first in this piece of work, by `key`; outside of any, what it answers now. */
export function sameInWork<T>(key: object, read: () => T): T {
  const known = works.getStore()
  if (!known) return read()
  if (!known.has(key)) known.set(key, read())
  return known.get(key) as T
}
