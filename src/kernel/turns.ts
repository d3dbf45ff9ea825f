let last: Promise<void> = Promise.resolve()

/**
 * For long work on the event loop: waits until waiting requests were served. All callers share one queue, so only one of
 * them goes on in each turn of the loop, however many there are (I28).
 */
export function nextTurn(): Promise<void> {
  last = last.then(() => new Promise<void>((resolve) => setImmediate(resolve)))
  return last
}
