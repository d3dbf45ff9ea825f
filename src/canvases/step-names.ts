import type { Kind, NodeOf, ReadNode } from './nodes'

/** Kinds of nodes that become steps; the others say what the steps work with. */
const STEP_KINDS = ['model', 'tool', 'vision', 'condition', 'output'] as const
export type StepNode = NodeOf<(typeof STEP_KINDS)[number]>

export const isStep = (node: ReadNode): node is StepNode => (STEP_KINDS as readonly Kind[]).includes(node.kind)

/** A name for each step, told apart by a number where two have one label. */
export function stepNames(labels: readonly string[]): string[] {
  const taken = new Set<string>()
  return labels.map((label) => {
    let name = label
    for (let again = 2; taken.has(name); again++) name = `${label} ${again}`
    taken.add(name)
    return name
  })
}
