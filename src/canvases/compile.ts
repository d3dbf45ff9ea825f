import type { SkillManifest } from '../skills'
import { type Drawing, readDrawing, sizeProblem } from './drawing'
import { flowOf } from './flow'
import { inOrder } from './links'
import { type About, toManifest } from './manifest'
import { meaningProblems } from './meaning'
import type { NodeOf, ReadNode } from './nodes'
import type { CanvasGraph, CanvasProblem, CanvasStep } from './schema'
import { shapeProblems } from './shape'
import { type Plan, toStep } from './step-config'
import { isStep, stepNames } from './step-names'
import { flattened, lineUp } from './steps'

export type Compilation =
  | { compiled: true; manifest: SkillManifest; steps: CanvasStep[] }
  | { compiled: false; problems: CanvasProblem[] }

const MOST_PROBLEMS = 100

/**
 * A drawing as a skill and its workflow steps, or everything that is wrong with it (contract 9.1). Pure: the
 * same drawing always compiles to the same, and nothing of it is run.
 */
export function compileCanvas(graph: CanvasGraph, about: About): Compilation {
  const tooLarge = sizeProblem(graph)
  if (tooLarge) return { compiled: false, problems: [tooLarge] }
  const { drawing, problems: unread } = readDrawing(graph)
  const problems = [...unread, ...shapeProblems(drawing), ...meaningProblems(drawing)]
  if (problems.length) return { compiled: false, problems: problems.slice(0, MOST_PROBLEMS) }
  return { compiled: true, ...assembled(drawing, about) }
}

/** Of a drawing without problems: one input, no way round, every node read. */
function assembled({ read, links }: Drawing, about: About): { manifest: SkillManifest; steps: CanvasStep[] } {
  const byId = new Map(read.map((node) => [node.id, node]))
  const { order } = inOrder([...byId.keys()], links)
  const nodes = order.map((id) => byId.get(id)!)
  const input = nodes.find((node): node is NodeOf<'input'> => node.kind === 'input')!
  const conditions = new Set(idsOf(nodes.filter(({ kind }) => kind === 'condition')))
  const flow = flowOf(order, conditions, links)
  const steps = flattened(flow)
    .map((id) => byId.get(id)!)
    .filter(isStep)
  const placeOf = new Map(idsOf(steps).map((id, place) => [id, place]))
  const plan: Plan = { input, nodes, links, placeOf }
  const names = stepNames(steps)
  const stepOf = new Map(steps.map((node, place) => [node.id, toStep(node, names[place]!, plan)]))
  return { manifest: toManifest(plan, about), steps: lineUp(flow, stepOf) }
}

const idsOf = (nodes: readonly ReadNode[]): string[] => nodes.map(({ id }) => id)
