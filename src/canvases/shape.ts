import { type Drawing, named } from './drawing'
import { cycleAmong, inOrder, leadingTo, reachedFrom } from './links'
import type { Drawn } from './nodes'
import type { CanvasProblem } from './schema'

/**
 * Problems in the structure of a graph (contract 9.1): it needs exactly one input, a reachable output, no cycles, no
 * unreachable nodes, and a prompt before every model.
 */
export function shapeProblems(drawing: Drawing): CanvasProblem[] {
  return [
    ...inputProblems(drawing),
    ...cycleProblems(drawing),
    ...reachProblems(drawing),
    ...outputProblems(drawing),
    ...promptProblems(drawing),
  ]
}

const ofKind = ({ nodes }: Drawing, kind: Drawn['kind']): Drawn[] => nodes.filter((node) => node.kind === kind)

function inputProblems(drawing: Drawing): CanvasProblem[] {
  const [first, ...more] = ofKind(drawing, 'input')
  if (!first)
    return [{ code: 'missing_input', message: 'The canvas has no input node. Add one; everything starts there.' }]
  return more.map((node) => ({
    code: 'multiple_inputs',
    message: `${named(node)} is a second input next to ${named(first)}. Keep only one.`,
    nodeId: node.id,
  }))
}

function cycleProblems({ nodes, links }: Drawing): CanvasProblem[] {
  const { stuck } = inOrder(
    nodes.map(({ id }) => id),
    links,
  )
  if (!stuck.length) return []
  const labels = new Map(nodes.map((node) => [node.id, named(node)]))
  const way = cycleAmong(stuck, links)
  const shown = way.length > 8 ? [...way.slice(0, 7).map((id) => labels.get(id)), '…'] : way.map((id) => labels.get(id))
  return [{ code: 'cycle_detected', message: `The edges form a loop: ${shown.join(' → ')}.`, nodeId: way[0]! }]
}

/** The only input; undefined with none or several, when reachability cannot be checked. */
const soleInput = (drawing: Drawing): Drawn | undefined => {
  const inputs = ofKind(drawing, 'input')
  return inputs.length === 1 ? inputs[0] : undefined
}

function reachProblems(drawing: Drawing): CanvasProblem[] {
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

function outputProblems(drawing: Drawing): CanvasProblem[] {
  const input = soleInput(drawing)
  const reached = input && reachedFrom(input.id, drawing.links)
  if (ofKind(drawing, 'output').some(({ id }) => !reached || reached.has(id))) return []
  return [{ code: 'no_output', message: 'The input is not connected to an output node. Add one and connect it.' }]
}

function promptProblems(drawing: Drawing): CanvasProblem[] {
  const prompts = new Set(ofKind(drawing, 'prompt').map(({ id }) => id))
  return ofKind(drawing, 'model')
    .filter(({ id }) => leadingTo(id, drawing.links).isDisjointFrom(prompts))
    .map((node) => ({
      code: 'model_no_prompt',
      message: `There is no prompt before ${named(node)}. Connect a prompt node to it.`,
      nodeId: node.id,
    }))
}
