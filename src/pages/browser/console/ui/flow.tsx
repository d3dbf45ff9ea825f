import { useState } from 'react'
import { Button } from './controls'

export type FlowNode = { id: string; kind: string; label: string; tone?: 'good' | 'bad' | 'run' }
type FlowEdge = { source: string; target: string; label?: string | undefined }
type Props = {
  nodes: readonly FlowNode[]
  edges: readonly FlowEdge[]
  chosen: string | null
  onChoose(id: string): void
}

const WIDTH = 168
const HEIGHT = 52
const GAP = { x: 56, y: 24 }
const MAX = 200

/** The layer of each node: one more than the deepest node that leads to it. A cycle is cut where it closes. */
function layersOf(nodes: readonly FlowNode[], edges: readonly FlowEdge[]): FlowNode[][] {
  const depth = new Map<string, number>()
  const depthOf = (id: string, seen: ReadonlySet<string>): number => {
    const known = depth.get(id)
    if (known !== undefined) return known
    const before = edges.filter((edge) => edge.target === id && !seen.has(edge.source))
    const found = Math.max(-1, ...before.map(({ source }) => depthOf(source, new Set([...seen, id])))) + 1
    depth.set(id, found)
    return found
  }
  const layers: FlowNode[][] = []
  for (const node of nodes) {
    const at = depthOf(node.id, new Set())
    layers[at] ??= []
    layers[at].push(node)
  }
  return layers.filter(Boolean)
}

/** A graph drawn in layers from left to right. Each node is a button, in reading order. */
export function Flow({ nodes, edges, chosen, onChoose }: Props) {
  const [zoom, setZoom] = useState(1)
  const layers = layersOf(nodes.slice(0, MAX), edges)
  const places = new Map<string, { x: number; y: number }>()
  for (const [column, layer] of layers.entries())
    for (const [row, { id }] of layer.entries())
      places.set(id, { x: column * (WIDTH + GAP.x) + 8, y: row * (HEIGHT + GAP.y) + 8 })
  const width = layers.length * (WIDTH + GAP.x) - GAP.x + 16
  const height = Math.max(1, ...layers.map(({ length }) => length)) * (HEIGHT + GAP.y) - GAP.y + 16
  return (
    <div className="flow">
      <div className="flow-zoom" role="group" aria-label="Size of the graph">
        <Button aria-label="Smaller" onClick={() => setZoom(Math.max(0.5, zoom - 0.25))}>
          −
        </Button>
        <Button aria-label="Larger" onClick={() => setZoom(Math.min(2, zoom + 0.25))}>
          +
        </Button>
      </div>
      <div className="flow-box" tabIndex={0} role="group" aria-label="Graph">
        <svg width={width * zoom} height={height * zoom} viewBox={`0 0 ${width} ${height}`} role="presentation">
          <defs>
            <marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">
              <path d="M0 0L8 4L0 8z" />
            </marker>
          </defs>
          {edges.map(({ source, target, label }) => {
            const [from, to] = [places.get(source), places.get(target)]
            if (!from || !to) return null
            const [x1, y1, x2, y2] = [from.x + WIDTH, from.y + HEIGHT / 2, to.x, to.y + HEIGHT / 2]
            const middle = (x1 + x2) / 2
            return (
              <g key={`${source} ${target} ${label ?? ''}`}>
                <path
                  className="flow-edge"
                  d={`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`}
                  markerEnd="url(#arrow)"
                />
                {label && (
                  <text x={middle} y={(y1 + y2) / 2 - 4} textAnchor="middle">
                    {label}
                  </text>
                )}
              </g>
            )
          })}
          {layers.flat().map(({ id, kind, label, tone = '' }) => {
            const { x, y } = places.get(id)!
            return (
              <foreignObject key={id} x={x} y={y} width={WIDTH} height={HEIGHT}>
                <button
                  type="button"
                  className={`flow-node ${tone}`}
                  aria-pressed={chosen === id}
                  onClick={() => onChoose(id)}
                >
                  <small>{kind}</small>
                  <span>{label}</span>
                </button>
              </foreignObject>
            )
          })}
        </svg>
      </div>
      {nodes.length > MAX && <p className="faint">The first {MAX} nodes are drawn.</p>}
    </div>
  )
}
