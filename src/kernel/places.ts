export type Places = { run<T>(who: string, work: () => Promise<T>): Promise<T> }

/**
 * At most so many at work at the same time, and at most `each` of them for one owner; the rest wait. Whoever has
 * nothing at work goes before who has, so that nobody keeps all others out.
 */
export function createPlaces(most: number, each = most): Places {
  const waiting: { who: string; go: () => void }[] = []
  const working: string[] = []
  const countOf = (who: string): number => working.filter((one) => one === who).length

  return {
    async run(who, work) {
      if (working.length < most && countOf(who) < each) working.push(who)
      else await new Promise<void>((go) => waiting.push({ who, go }))
      try {
        return await work()
      } finally {
        working.splice(working.indexOf(who), 1)
        letNextIn()
      }
    },
  }

  function letNextIn(): void {
    const free = waiting.filter(({ who }) => countOf(who) < each)
    const next = free.find(({ who }) => countOf(who) === 0) ?? free[0]
    if (!next) return
    waiting.splice(waiting.indexOf(next), 1)
    working.push(next.who)
    next.go()
  }
}

let last: Promise<void> = Promise.resolve()

/**
 * For work that reads for long: waits until requests have had their turn. However many such readers
 * there are, one of them runs in each turn of the event loop, so all together hold it as long as one (I28).
 */
export function nextTurn(): Promise<void> {
  last = last.then(() => new Promise<void>((resolve) => setImmediate(resolve)))
  return last
}
