let last: Promise<void> = Promise.resolve()

/**
 * Lets pending requests run during long work: resolves in a later turn of the event loop. All callers share one queue
 * and one of them resumes per turn, so many long jobs block the loop no longer than one (I28).
 */
export function nextTurn(): Promise<void> {
  last = last.then(() => new Promise<void>((resolve) => setImmediate(resolve)))
  return last
}
