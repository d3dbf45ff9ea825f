import { clean } from '../../kernel/text'
import { graphTooLarge } from './errors'
import { type CanvasGraph, GRAPH_LIMITS } from './schema'

export const EMPTY_GRAPH: CanvasGraph = { nodes: [], edges: [] }

/** The graph as stored, and its size as JSON in bytes. Throws 400 `validation_error` above 2 MiB. */
export function storable({ nodes, edges }: CanvasGraph): { graph: CanvasGraph; graph_bytes: number } {
  const graph = { nodes, edges }
  const graph_bytes = Buffer.byteLength(JSON.stringify(graph))
  if (graph_bytes > GRAPH_LIMITS.bytes) throw graphTooLarge(graph_bytes)
  return { graph, graph_bytes }
}

/** The skill name for a canvas name: one line, without control characters. */
export const titleOf = (name: string): string => clean(name).replace(/\s+/g, ' ').trim() || 'Canvas'

const MAX_SLUG_CHARS = 64

/** The slug used until the author sets one: the name in lower-case ASCII letters, digits and hyphens. */
export function slugOf(name: string): string {
  const plain = name.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '')
  const slug = plain
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, MAX_SLUG_CHARS)
    .replace(/(?<!-)-+$/, '')
  return slug.length < 2 ? 'canvas' : slug
}
