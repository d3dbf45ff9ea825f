import type { Links } from './links'
import { type Answer, keyOf, type Ways, waysTo } from './ways'

/** Places that run in sequence. */
export type Flow = readonly Place[]

/**
 * One place in a flow: a node, or a guard (`node: null`). A condition has a branch for each of its answers. The true
 * branch of a guard runs when any answer in `waitsFor` was given.
 */
export type Place = { node: string | null; waitsFor: readonly Answer[]; branches: Branches | null }
type Branches = { true: Flow; false: Flow }

/** A flow under construction. `path` holds the enclosing flows, outermost first, and ends with the flow itself. */
type Line = { places: Place[]; path: readonly Line[] }

/**
 * Turns an acyclic graph into a sequence with branches. Every node must be reachable from the first. A node runs
 * exactly when the given answers lead to it, and after all its predecessors. `order` must be topological.
 */
export function flowOf(order: readonly string[], conditions: ReadonlySet<string>, links: Links): Flow {
  const ways = waysTo(order, links)
  const root = lineIn(null)
  const branchOf = new Map<string, Line>()
  const heldBy = new Map<Place, Line>()
  for (const id of order) {
    const line = lineFor(ways.get(id)!)
    if (conditions.has(id)) addCondition(line, id)
    else line.places.push({ node: id, waitsFor: [], branches: null })
  }
  return root.places

  function addCondition(line: Line, condition: string): void {
    const [yes, no] = [lineIn(line), lineIn(line)]
    branchOf.set(keyOf({ condition, answer: 'true' }), yes).set(keyOf({ condition, answer: 'false' }), no)
    line.places.push({ node: condition, waitsFor: [], branches: { true: yes.places, false: no.places } })
  }

  /** The sequence for a node that depends on these answers: that answer's branch for a single one, else a guard. */
  function lineFor(answers: Ways): Line {
    if (answers === null) return root
    const [first, ...others] = answers.map((one) => branchOf.get(keyOf(one))!)
    if (!others.length) return first!
    const shared = first!.path.filter((line) => others.every(({ path }) => path.includes(line))).at(-1)!
    return guarded(shared, answers)
  }

  /** Consecutive nodes that wait for the same answers share one guard. */
  function guarded(line: Line, waitsFor: readonly Answer[]): Line {
    const last = line.places.at(-1)
    const known = last && heldBy.get(last)
    if (known && namesOf(last.waitsFor) === namesOf(waitsFor)) return known
    const held = lineIn(line)
    const guard: Place = { node: null, waitsFor, branches: { true: held.places, false: [] } }
    heldBy.set(guard, held)
    line.places.push(guard)
    return held
  }
}

/** Removes nodes that do no work (`keeps` is false) and guards whose branch became empty. */
export function withOnly(flow: Flow, keeps: (node: string) => boolean): Flow {
  return flow.flatMap((place) => {
    const { node, branches } = place
    const kept = branches && { true: withOnly(branches.true, keeps), false: withOnly(branches.false, keeps) }
    const stays = node === null ? kept?.true.length : keeps(node)
    return stays ? [{ ...place, branches: kept }] : []
  })
}

/** All places in step order: a condition, its "true" branch, its "false" branch. */
export const flattened = (flow: Flow): Place[] =>
  flow.flatMap((place) => {
    const { branches } = place
    return [place, ...(branches ? [...flattened(branches.true), ...flattened(branches.false)] : [])]
  })

function lineIn(parent: Line | null): Line {
  const line: Line & { path: Line[] } = { places: [], path: [...(parent?.path ?? [])] }
  line.path.push(line)
  return line
}

const namesOf = (answers: readonly Answer[]): string => answers.map(keyOf).join('\n')
