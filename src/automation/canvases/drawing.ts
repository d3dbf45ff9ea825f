import { messageOf, quoted } from '../../kernel/errors'
import { type Arrow, type Links, linksOf } from './links'
import { type Drawn, drawn, KINDS, kindOf, type ReadNode, readNode } from './nodes'
import { type CanvasEdge, type CanvasGraph, type CanvasProblem, GRAPH_LIMITS } from './schema'

/** A parsed graph. `nodes` are all nodes, `arrows` the valid edges, `read` the nodes whose config is valid. */
export type Drawing = {
  nodes: readonly Drawn[]
  arrows: readonly Arrow[]
  links: Links
  read: readonly ReadNode[]
}

/** The problem of a graph with too many nodes or edges to be checked one by one; undefined when it is small enough. */
export function sizeProblem({ nodes, edges }: CanvasGraph): CanvasProblem | undefined {
  const { nodes: maxNodes, edges: maxEdges } = GRAPH_LIMITS
  if (nodes.length > maxNodes)
    return {
      code: 'invalid_config',
      message: `The canvas has ${nodes.length} nodes; at most ${maxNodes} are allowed.`,
    }
  if (edges.length > maxEdges)
    return { code: 'invalid_edge', message: `The canvas has ${edges.length} edges; at most ${maxEdges} are allowed.` }
  return undefined
}

/** Reads nodes and edges one by one. Invalid ones are reported and left out. */
export function readDrawing({ nodes, edges }: CanvasGraph): { drawing: Drawing; problems: CanvasProblem[] } {
  const problems: CanvasProblem[] = []
  const known = new Map<string, Drawn>()
  const read: ReadNode[] = []
  for (const node of nodes) {
    const nodeId = node.id
    if (known.has(nodeId)) {
      problems.push({ code: 'invalid_config', message: `Two nodes have the id ${name(nodeId)}.`, nodeId })
      continue
    }
    const shape = drawn(node)
    known.set(nodeId, shape)
    const kind = kindOf(node)
    if (kind === null) {
      problems.push({ code: 'invalid_node_type', message: unknownKind(shape, node.type, node.data?.type), nodeId })
      continue
    }
    const found = readNode(node, kind)
    if (Array.isArray(found)) {
      problems.push(
        ...found.map((fault) => ({ code: 'invalid_config' as const, message: `${named(shape)}: ${fault}`, nodeId })),
      )
    } else read.push(found)
  }
  const arrows = edges.flatMap((edge) => readEdge(edge, known, problems))
  return { drawing: { nodes: [...known.values()], arrows, links: linksOf(arrows), read }, problems }
}

function readEdge(edge: CanvasEdge, known: ReadonlyMap<string, Drawn>, problems: CanvasProblem[]): Arrow[] {
  const { source, target, sourceHandle } = edge
  const [from, to] = [known.get(source), known.get(target)]
  const lost = from ? (to ? undefined : target) : source
  if (!from || !to) {
    const message = `The edge from ${name(source)} to ${name(target)} leads to a node that does not exist: ${name(lost)}.`
    problems.push({ code: 'invalid_edge', message, ...(from ? { nodeId: source } : to ? { nodeId: target } : {}) })
    return []
  }
  if (from.kind !== 'condition') return [{ source, target, handle: null }]
  if (sourceHandle === 'true' || sourceHandle === 'false') return [{ source, target, handle: sourceHandle }]
  const message = `The edge out of ${named(from)} has the "sourceHandle" ${messageOf(sourceHandle ?? null)}; if the source is a condition, it must be "true" or "false".`
  problems.push({ code: 'invalid_edge', message, nodeId: source })
  return []
}

function unknownKind(shape: Drawn, type: string, inner: string | undefined): string {
  return inner !== undefined && inner !== type && KINDS.some((kind) => kind === type)
    ? `${named(shape)} has the type ${name(type)} outside and ${name(inner)} inside. Make both the same.`
    : `${named(shape)} has the unknown type ${name(type)}. Use ${KINDS.join(', ')}.`
}

const name = (text: unknown): string => `"${quoted(text)}"`

/** A node as the subject of a sentence: `Node "label"`. */
export const named = ({ label }: Pick<Drawn, 'label'>): string => `Node ${name(label)}`
