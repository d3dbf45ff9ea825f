import type { Links } from './links'
import { type Answer, keyOf, type Ways, waysTo } from './ways'

/** What runs one after the other. */
export type Flow = readonly Place[]

/**
 * One place in a flow: a node, or a guard that stands for none. A condition carries what runs only after one
 * of its answers; a guard what runs when any of the answers it waits for was given before.
 */
export type Place = { node: string | null; waitsFor: readonly Answer[]; branches: Branches | null }
type Branches = { true: Flow; false: Flow }

/** A flow while it is built, and the flows it is a part of, itself the last. */
type Line = { places: Place[]; path: readonly Line[] }

/**
 * Puts an acyclic graph, all of it reached from its first node, into a line with branches: a node runs when,
 * and only when, the answers given lead to it, and after all that lead to it. `order` has each node after all
 * that lead to it.
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

  /** Where a node goes that runs after these answers: the branch of a single one, else behind a guard. */
  function lineFor(answers: Ways): Line {
    if (answers === null) return root
    const [first, ...others] = answers.map((one) => branchOf.get(keyOf(one))!)
    if (!others.length) return first!
    const shared = first!.path.filter((line) => others.every(({ path }) => path.includes(line))).at(-1)!
    return guarded(shared, answers)
  }

  /** Neighbours that wait for the same wait behind one guard. */
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

/** The flow without nodes that nothing is to be done for, and without guards that hold nothing back. */
export function withOnly(flow: Flow, keeps: (node: string) => boolean): Flow {
  return flow.flatMap((place) => {
    const { node, branches } = place
    const kept = branches && { true: withOnly(branches.true, keeps), false: withOnly(branches.false, keeps) }
    const stays = node === null ? kept?.true.length : keeps(node)
    return stays ? [{ ...place, branches: kept }] : []
  })
}

/** Every place, in the order of the list they become: a condition, its branch of "true", that of "false". */
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
