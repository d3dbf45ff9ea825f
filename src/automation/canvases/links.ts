/** An edge between two existing nodes. `handle` is the answer it follows when the source is a condition, else null. */
export type Arrow = { source: string; target: string; handle: 'true' | 'false' | null }

/** The edges of a graph by source and by target. */
export type Links = { out(id: string): readonly Arrow[]; into(id: string): readonly Arrow[] }

export function linksOf(arrows: readonly Arrow[]): Links {
  const bySource = Map.groupBy(arrows, ({ source }) => source)
  const byTarget = Map.groupBy(arrows, ({ target }) => target)
  return { out: (id) => bySource.get(id) ?? [], into: (id) => byTarget.get(id) ?? [] }
}

/** All nodes reachable from `start`, itself included. */
export function reachedFrom(start: string, { out }: Links): Set<string> {
  return spread([start], (id) => out(id).map(({ target }) => target))
}

/** All nodes that lead to `end`; `end` itself only when it lies on a cycle. */
export function leadingTo(end: string, { into }: Links): Set<string> {
  const sources = (id: string) => into(id).map(({ source }) => source)
  return spread(sources(end), sources)
}

function spread(start: readonly string[], next: (id: string) => readonly string[]): Set<string> {
  const seen = new Set(start)
  for (const id of seen) for (const neighbour of next(id)) seen.add(neighbour)
  return seen
}

/** Sorts nodes topologically, otherwise in drawing order. `stuck` are the nodes in a cycle or behind one. */
export function inOrder(ids: readonly string[], links: Links): { order: string[]; stuck: string[] } {
  const order: string[] = []
  const done = new Set<string>()
  let waiting = [...ids]
  for (let found = true; found; ) {
    const ready = waiting.find((id) => links.into(id).every(({ source }) => done.has(source)))
    found = ready !== undefined
    if (ready === undefined) break
    order.push(ready)
    done.add(ready)
    waiting = waiting.filter((id) => id !== ready)
  }
  return { order, stuck: waiting }
}

/** One cycle among the stuck nodes; its first node is repeated at the end. */
export function cycleAmong(stuck: readonly string[], { into }: Links): string[] {
  const among = new Set(stuck)
  const way: string[] = []
  for (let id = stuck[0]!; ; ) {
    const met = way.indexOf(id)
    way.push(id)
    if (met >= 0) return way.slice(met).reverse()
    id = into(id).find(({ source }) => among.has(source))!.source
  }
}
