import type { Kind, NodeOf, ReadNode } from './nodes'

/** Kinds of nodes that become workflow steps; the other kinds configure those steps. */
const STEP_KINDS = ['model', 'tool', 'vision', 'condition', 'output'] as const
export type StepNode = NodeOf<(typeof STEP_KINDS)[number]>

export const isStep = (node: ReadNode): node is StepNode => (STEP_KINDS as readonly Kind[]).includes(node.kind)

/** Makes step names unique by numbering repeated labels. */
export function stepNames(labels: readonly string[]): string[] {
  const taken = new Set<string>()
  return labels.map((label) => {
    let name = label
    for (let again = 2; taken.has(name); again++) name = `${label} ${again}`
    taken.add(name)
    return name
  })
}
