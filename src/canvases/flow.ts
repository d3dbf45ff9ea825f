import type { Links } from './links'

/** Nodes in the order they run. A condition carries what runs only after one of its answers. */
export type Flow = readonly Place[]
export type Place = { id: string; branches: { true: Flow; false: Flow } | null }

/** One answer of a condition, as a place every way to its branch leads through. */
type Gate = `${string} ${'true' | 'false'}`

/**
 * Puts an acyclic graph, all of it reached from the first of `order`, into a line with branches. A node
 * belongs to a branch when every way to it leads through that answer; where ways meet again it runs
 * whichever was taken. `order` has each node after all that lead to it.
 */
export function flowOf(order: readonly string[], conditions: ReadonlySet<string>, links: Links): Flow {
  const gates = gatesOf(order, links)
  const members = Map.groupBy(order, (id) => gates.get(id)?.at(-1) ?? null)
  const lineOf = (gate: Gate | null): Flow =>
    (members.get(gate) ?? []).map((id) => ({
      id,
      branches: conditions.has(id) ? { true: lineOf(`${id} true`), false: lineOf(`${id} false`) } : null,
    }))
  return lineOf(null)
}

/** The gates each node lies behind, the outermost first: those that all ways to it have in common. */
function gatesOf(order: readonly string[], { into }: Links): Map<string, readonly Gate[]> {
  const gates = new Map<string, readonly Gate[]>()
  for (const id of order) {
    const ways = into(id).map(({ source, handle }) => {
      const behind = gates.get(source) ?? []
      return handle ? [...behind, `${source} ${handle}` as const] : behind
    })
    gates.set(id, ways.length ? ways.reduce(commonStart) : [])
  }
  return gates
}

function commonStart(one: readonly Gate[], other: readonly Gate[]): readonly Gate[] {
  const parting = one.findIndex((gate, place) => gate !== other[place])
  return parting < 0 ? one : one.slice(0, parting)
}
