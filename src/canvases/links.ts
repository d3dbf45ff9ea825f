/** An arrow whose ends are there; out of a condition it says which answer it follows. */
export type Arrow = { source: string; target: string; handle: 'true' | 'false' | null }

/** The arrows of a graph by their ends. */
export type Links = { out(id: string): readonly Arrow[]; into(id: string): readonly Arrow[] }

export function linksOf(arrows: readonly Arrow[]): Links {
  const bySource = Map.groupBy(arrows, ({ source }) => source)
  const byTarget = Map.groupBy(arrows, ({ target }) => target)
  return { out: (id) => bySource.get(id) ?? [], into: (id) => byTarget.get(id) ?? [] }
}

/** Every node there is a way to, the start included. */
export function reachedFrom(start: string, { out }: Links): Set<string> {
  return spread([start], (id) => out(id).map(({ target }) => target))
}

/** Every node there is a way from, the end not included unless it leads back to itself. */
export function leadingTo(end: string, { into }: Links): Set<string> {
  const sources = (id: string) => into(id).map(({ source }) => source)
  return spread(sources(end), sources)
}

function spread(start: readonly string[], next: (id: string) => readonly string[]): Set<string> {
  const seen = new Set(start)
  for (const id of seen) for (const neighbour of next(id)) seen.add(neighbour)
  return seen
}

/**
 * The nodes, each after all that lead to it, and otherwise in the order they were drawn. `stuck` are those
 * in a cycle or behind one.
 */
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

/** One way round, out of nodes that are stuck: the first is also the last. */
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
