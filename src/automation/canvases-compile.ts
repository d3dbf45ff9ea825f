import {
  contentProblems,
  cycleAmong,
  inOrder,
  isStep,
  type Links,
  leadingTo,
  type NodeOf,
  type NodeOutline,
  named,
  type ParsedGraph,
  parseGraph,
  reachedFrom,
  sizeProblem,
} from './canvases-graph'
import type { CanvasGraph, CanvasProblem, CanvasStep } from './canvases-schema'
import { type About, guardStep, type Plan, stepNames, toManifest, toStep, type Written } from './canvases-steps'

export type Answer = { condition: string; answer: 'true' | 'false' }

/**
 * The answers after which a node runs. Any one of them is enough. `null` means the node always runs. Normalized: nodes
 * that run in the same cases have equal lists.
 */
type Ways = readonly Answer[] | null

/** The answers that lead to each node of an acyclic graph. `order` must be topological. */
function branchesTo(order: readonly string[], { into }: Links): Map<string, Ways> {
  const branches = new Map<string, Ways>()
  for (const id of order) {
    const arrows = into(id)
    const found = arrows.map(({ source, handle }) =>
      handle ? [{ condition: source, answer: handle }] : (branches.get(source) ?? null),
    )
    branches.set(
      id,
      arrows.length === 0 || found.includes(null)
        ? null
        : simplest(
            found.flatMap((some) => some ?? []),
            branches,
          ),
    )
  }
  return branches
}

/** Simplifies the answers. Both answers of one condition are equivalent to the condition having run. */
function simplest(answers: readonly Answer[], branches: ReadonlyMap<string, Ways>): Ways {
  const rest = new Map(answers.map((one) => [keyOf(one), one]))
  for (let changed = true; changed; ) {
    changed = false
    const isCovered = coverage(rest, branches)
    for (const [key, { condition, answer }] of rest) {
      const other = keyOf({ condition, answer: answer === 'true' ? 'false' : 'true' })
      const waysOut = branches.get(condition) ?? null
      const isBoth = rest.has(other)
      if (isBoth && waysOut === null) return null
      if (!isBoth && !isCovered(condition)) continue
      rest.delete(key)
      if (isBoth) {
        rest.delete(other)
        for (const one of waysOut!) rest.set(keyOf(one), one)
      }
      changed = true
      break
    }
  }
  return [...rest.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

/**
 * Tells whether these answers already cover all ways to a condition, so that its own answers add nothing. Memoized,
 * because branches that split and merge repeatedly would take exponential time.
 */
function coverage(
  among: ReadonlyMap<string, Answer>,
  branches: ReadonlyMap<string, Ways>,
): (condition: string) => boolean {
  const known = new Map<string, boolean>()
  return function isCovered(condition: string): boolean {
    const found = known.get(condition)
    if (found !== undefined) return found
    const waysTo = branches.get(condition) ?? null
    const covered = waysTo?.every((one) => among.has(keyOf(one)) || isCovered(one.condition)) ?? false
    known.set(condition, covered)
    return covered
  }
}

const keyOf = ({ condition, answer }: Answer): string => `${answer} ${condition}`

/** Places that run in sequence. */
type Flow = readonly Place[]

/**
 * One place in a flow: a node, or a guard (`node: null`). A condition has a branch for each of its answers. The true
 * branch of a guard runs when any answer in `waitsFor` was given.
 */
type Place = { node: string | null; waitsFor: readonly Answer[]; branches: { true: Flow; false: Flow } | null }

/** A flow under construction. `path` holds the enclosing flows, outermost first, and ends with the flow itself. */
type Line = { places: Place[]; path: readonly Line[] }

/** All places in step order: a condition, its "true" branch, its "false" branch. */
const flattened = (flow: Flow): Place[] =>
  flow.flatMap((place) => {
    const { branches } = place
    return [place, ...(branches ? [...flattened(branches.true), ...flattened(branches.false)] : [])]
  })

const namesOf = (answers: readonly Answer[]): string => answers.map(keyOf).join('\n')

const ofKind = ({ nodes }: ParsedGraph, kind: NodeOutline['kind']): NodeOutline[] =>
  nodes.filter((node) => node.kind === kind)

/** The only input. Undefined with none or several, because reachability then cannot be checked. */
const soleInput = (drawing: ParsedGraph): NodeOutline | undefined => {
  const inputs = ofKind(drawing, 'input')
  return inputs.length === 1 ? inputs[0] : undefined
}

/** A step whose successors are not yet known as indexes. */
type Draft = { step: CanvasStep; to: Label; answers: { onTrue: Label; onFalse: Label } | null }

/** An index in the list of steps, filled in when the target step is added. */
type Label = { at: number }

/** The step of each place, and the end step that merging branches jump to. */
type Doings = { stepOf: ReadonlyMap<Place, CanvasStep>; end: CanvasStep }

export type Compilation =
  | ({ compiled: true; steps: CanvasStep[] } & Written)
  | { compiled: false; problems: CanvasProblem[] }

const MAX_PROBLEMS = 100

/**
 * Compiles a canvas graph into a skill manifest and workflow steps, or lists every problem in it (docs/api.md 9.1).
 * Pure: runs and stores nothing.
 */
export function compileCanvas(graph: CanvasGraph, about: About): Compilation {
  const tooLarge = sizeProblem(graph)
  if (tooLarge) return { compiled: false, problems: [tooLarge] }
  const { drawing, problems: unread } = parseGraph(graph)
  const problems = [...unread, ...graphProblems(drawing), ...contentProblems(drawing)]
  if (problems.length) return { compiled: false, problems: problems.slice(0, MAX_PROBLEMS) }
  return { compiled: true, ...assembled(drawing, about) }
}

/** Requires a graph without problems: one input, no cycles, every node read. */
function assembled({ read, links }: ParsedGraph, about: About): { steps: CanvasStep[] } & Written {
  const byId = new Map(read.map((node) => [node.id, node]))
  const { order } = inOrder([...byId.keys()], links)
  const nodes = order.map((id) => byId.get(id)!)
  const input = nodes.find((node): node is NodeOf<'input'> => node.kind === 'input')!
  return { ...toManifest({ input, nodes }, about), steps: stepsOf({ input, nodes, links }) }
}

/** Names of steps without a node. */
const GUARD = 'Branches meet'
const END = 'End'

function stepsOf({ input, nodes, links }: Omit<Plan, 'placeOf'>): CanvasStep[] {
  const steps = new Map(nodes.filter(isStep).map((node) => [node.id, node]))
  const conditions = new Set([...steps.values()].filter(({ kind }) => kind === 'condition').map(({ id }) => id))
  const whole = flowOf(
    nodes.map(({ id }) => id),
    conditions,
    links,
  )
  const flow = withOnly(whole, (id) => steps.has(id))
  const places = flattened(flow)
  const plan: Plan = {
    input,
    nodes,
    links,
    placeOf: new Map(places.flatMap(({ node }, at) => (node === null ? [] : [[node, at]]))),
  }
  const nodeOf = ({ node }: Place) => (node === null ? undefined : steps.get(node))
  const names = stepNames([...places.map((place) => nodeOf(place)?.label ?? GUARD), END])
  const toDo = (place: Place, name: string): CanvasStep => {
    const node = nodeOf(place)
    return node ? { ...toStep(node, name, plan), nodeId: node.id } : guardStep(name, place.waitsFor, plan)
  }
  const end: CanvasStep = { type: 'transform', name: names.at(-1)!, config: { template: '{{previous.output}}' } }
  return lineUp(flow, { stepOf: new Map(places.map((place, at) => [place, toDo(place, names[at]!)])), end })
}

/** Writes a flow as steps with jumps (docs/api.md 10): the "true" branch, the "false" branch, then later places. */
function lineUp(flow: Flow, { stepOf, end }: Doings): CanvasStep[] {
  const drafts: Draft[] = []
  const last: Label = { at: 0 }
  emit(flow, last)
  last.at = drafts.length
  const steps = drafts.map(written)
  return drafts.some(jumpsToLast) ? [...steps, end] : steps

  /** Each place leads to the next one, and the last place to `exit`. */
  function emit(line: Flow, exit: Label): void {
    const starts = line.map(() => ({ at: 0 }))
    for (const [turn, place] of line.entries()) {
      const { branches } = place
      const after = starts[turn + 1] ?? exit
      starts[turn]!.at = drafts.length
      const step = stepOf.get(place)!
      if (!branches) drafts.push({ step, to: after, answers: null })
      else emitCondition(step, branches, after)
    }
  }

  function emitCondition(step: CanvasStep, branches: NonNullable<Place['branches']>, after: Label): void {
    const [onTrue, onFalse] = [branches.true, branches.false].map((branch) => (branch.length ? { at: 0 } : after))
    drafts.push({ step, to: { at: drafts.length + 1 }, answers: { onTrue: onTrue!, onFalse: onFalse! } })
    for (const [branch, start] of [
      [branches.true, onTrue!],
      [branches.false, onFalse!],
    ] as const) {
      if (start !== after) start.at = drafts.length
      emit(branch, after)
    }
  }

  function jumpsToLast({ answers, to }: Draft, at: number): boolean {
    return (to === last && at + 1 < drafts.length) || answers?.onTrue === last || answers?.onFalse === last
  }
}

/** Writes `onSuccess` only when the next step does not directly follow. */
function written({ step, to, answers }: Draft, at: number): CanvasStep {
  if (answers) return { ...step, config: { ...step.config, onTrue: answers.onTrue.at, onFalse: answers.onFalse.at } }
  return to.at === at + 1 ? step : { ...step, onSuccess: to.at }
}

/**
 * Problems in the structure of a graph (docs/api.md 9.1): it needs exactly one input, a reachable output, no cycles, no
 * unreachable nodes, and a prompt before every model.
 */
function graphProblems(drawing: ParsedGraph): CanvasProblem[] {
  return [
    ...inputProblems(drawing),
    ...cycleProblems(drawing),
    ...reachProblems(drawing),
    ...outputProblems(drawing),
    ...promptProblems(drawing),
  ]
}

function inputProblems(drawing: ParsedGraph): CanvasProblem[] {
  const [first, ...more] = ofKind(drawing, 'input')
  if (!first)
    return [{ code: 'missing_input', message: 'The canvas has no input node. Add one; everything starts there.' }]
  return more.map((node) => ({
    code: 'multiple_inputs',
    message: `${named(node)} is a second input next to ${named(first)}. Keep only one.`,
    nodeId: node.id,
  }))
}

function cycleProblems({ nodes, links }: ParsedGraph): CanvasProblem[] {
  const { stuck } = inOrder(
    nodes.map(({ id }) => id),
    links,
  )
  if (!stuck.length) return []
  const labels = new Map(nodes.map((node) => [node.id, named(node)]))
  const cycle = cycleAmong(stuck, links)
  const shown =
    cycle.length > 8 ? [...cycle.slice(0, 7).map((id) => labels.get(id)), '…'] : cycle.map((id) => labels.get(id))
  return [{ code: 'cycle_detected', message: `The edges form a loop: ${shown.join(' → ')}.`, nodeId: cycle[0]! }]
}

function reachProblems(drawing: ParsedGraph): CanvasProblem[] {
  const input = soleInput(drawing)
  if (!input) return []
  const reached = reachedFrom(input.id, drawing.links)
  return drawing.nodes
    .filter(({ id }) => !reached.has(id))
    .map((node) => ({
      code: 'unreachable_node',
      message: `No edges lead from the input to ${named(node)}. Connect it or remove it.`,
      nodeId: node.id,
    }))
}

function outputProblems(drawing: ParsedGraph): CanvasProblem[] {
  const input = soleInput(drawing)
  const reached = input && reachedFrom(input.id, drawing.links)
  if (ofKind(drawing, 'output').some(({ id }) => !reached || reached.has(id))) return []
  return [{ code: 'no_output', message: 'The input is not connected to an output node. Add one and connect it.' }]
}

function promptProblems(drawing: ParsedGraph): CanvasProblem[] {
  const prompts = new Set(ofKind(drawing, 'prompt').map(({ id }) => id))
  return ofKind(drawing, 'model')
    .filter(({ id }) => leadingTo(id, drawing.links).isDisjointFrom(prompts))
    .map((node) => ({
      code: 'model_no_prompt',
      message: `There is no prompt before ${named(node)}. Connect a prompt node to it.`,
      nodeId: node.id,
    }))
}

/**
 * Turns an acyclic graph into a sequence with branches. Every node must be reachable from the first. A node runs only
 * after all its predecessors, and exactly when the given answers lead to it. `order` must be topological.
 */
function flowOf(order: readonly string[], conditions: ReadonlySet<string>, links: Links): Flow {
  const branches = branchesTo(order, links)
  const root = lineIn(null)
  const branchOf = new Map<string, Line>()
  const heldBy = new Map<Place, Line>()
  for (const id of order) {
    const line = lineFor(branches.get(id)!)
    if (conditions.has(id)) addCondition(line, id)
    else line.places.push({ node: id, waitsFor: [], branches: null })
  }
  return root.places

  function addCondition(line: Line, condition: string): void {
    const [yes, no] = [lineIn(line), lineIn(line)]
    branchOf.set(keyOf({ condition, answer: 'true' }), yes).set(keyOf({ condition, answer: 'false' }), no)
    line.places.push({ node: condition, waitsFor: [], branches: { true: yes.places, false: no.places } })
  }

  /** The sequence for a node that depends on these answers: the branch of a single answer, or a guard for several. */
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
function withOnly(flow: Flow, keeps: (node: string) => boolean): Flow {
  return flow.flatMap((place) => {
    const { node, branches } = place
    const stored = branches && { true: withOnly(branches.true, keeps), false: withOnly(branches.false, keeps) }
    const stays = node === null ? stored?.true.length : keeps(node)
    return stays ? [{ ...place, branches: stored }] : []
  })
}

function lineIn(parent: Line | null): Line {
  const line: Line & { path: Line[] } = { places: [], path: [...(parent?.path ?? [])] }
  line.path.push(line)
  return line
}
