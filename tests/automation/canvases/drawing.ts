import type { CanvasEdge, CanvasGraph, CanvasNode } from '../../../src/automation/canvases-schema'

/** One node; its id is its label unless another is given. */
export const node = (id: string, type: string, config: Record<string, unknown> = {}, label = id): CanvasNode => ({
  id,
  type,
  position: { x: 0, y: 0 },
  data: { type, label, config },
})

/** `a>b`, or `a?true>b` out of a condition. */
export function edge(arrow: string): CanvasEdge {
  const [from, target] = arrow.split('>') as [string, string]
  const [source, handle] = from.split('?') as [string, string | undefined]
  return { id: arrow, source, target, ...(handle ? { sourceHandle: handle } : {}) }
}

export const graph = (nodes: CanvasNode[], arrows: string[]): CanvasGraph => ({ nodes, edges: arrows.map(edge) })

export const INPUT = node('in', 'input', { triggerType: 'manual' })
export const PROMPT = node('prompt', 'prompt', { content: 'Answer in one short sentence.' })
export const MODEL = node('model', 'model', { modelId: 'svc-1-flash' })
export const OUTPUT = node('out', 'output', { format: 'text' })

/** The smallest canvas that answers anything. */
export const simple = (): CanvasGraph =>
  graph([INPUT, PROMPT, MODEL, OUTPUT], ['in>prompt', 'prompt>model', 'model>out'])

/** The same with a tool before its answer. */
export const withTool = (): CanvasGraph =>
  graph(
    [INPUT, PROMPT, MODEL, node('look', 'tool', { name: 'look_up', description: 'Looks up a word' }), OUTPUT],
    ['in>prompt', 'prompt>model', 'model>look', 'look>out'],
  )

export const ABOUT = { name: 'Mine', description: '', slug: 'mine', version: '1.0.0', author: { name: 'Ada' } }
