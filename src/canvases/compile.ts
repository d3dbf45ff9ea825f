import { type Drawing, readDrawing, sizeProblem } from './drawing'
import { flattened, flowOf, type Place, withOnly } from './flow'
import { inOrder } from './links'
import { type About, toManifest, type Written } from './manifest'
import { meaningProblems } from './meaning'
import type { NodeOf } from './nodes'
import type { CanvasGraph, CanvasProblem, CanvasStep } from './schema'
import { shapeProblems } from './shape'
import { guardStep, type Plan, toStep } from './step-config'
import { isStep, stepNames } from './step-names'
import { lineUp } from './steps'

export type Compilation =
  | ({ compiled: true; steps: CanvasStep[] } & Written)
  | { compiled: false; problems: CanvasProblem[] }

const MOST_PROBLEMS = 100

/**
 * Compiles a canvas graph into a skill manifest and workflow steps, or lists every problem in it (contract 9.1).
 * Pure: nothing is run or stored.
 */
export function compileCanvas(graph: CanvasGraph, about: About): Compilation {
  const tooLarge = sizeProblem(graph)
  if (tooLarge) return { compiled: false, problems: [tooLarge] }
  const { drawing, problems: unread } = readDrawing(graph)
  const problems = [...unread, ...shapeProblems(drawing), ...meaningProblems(drawing)]
  if (problems.length) return { compiled: false, problems: problems.slice(0, MOST_PROBLEMS) }
  return { compiled: true, ...assembled(drawing, about) }
}

/** Requires a graph without problems: one input, no cycles, every node read. */
function assembled({ read, links }: Drawing, about: About): { steps: CanvasStep[] } & Written {
  const byId = new Map(read.map((node) => [node.id, node]))
  const { order } = inOrder([...byId.keys()], links)
  const nodes = order.map((id) => byId.get(id)!)
  const input = nodes.find((node): node is NodeOf<'input'> => node.kind === 'input')!
  return { ...toManifest({ input, nodes }, about), steps: stepsOf({ input, nodes, links }) }
}

/** Names of steps that no node stands for. */
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
