let last: Promise<void> = Promise.resolve()

/**
 * For work that reads for long: waits until requests have had their turn. However many such readers
 * there are, one of them runs in each turn of the event loop, so all together hold it as long as one (I28).
 */
export function nextTurn(): Promise<void> {
  last = last.then(() => new Promise<void>((resolve) => setImmediate(resolve)))
  return last
}
