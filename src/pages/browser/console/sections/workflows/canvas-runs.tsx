import { useState } from 'react'
import type { CanvasGraph, CanvasVersion } from '../../../../../automation/canvases-schema'
import { Actions } from '../../shell/actions'
import { useGet } from '../../shell/api'
import { Chip, Code, Select } from '../../ui/controls'
import { Lines } from '../../ui/facts'
import { Flow } from '../../ui/flow'
import { Time } from '../../ui/format'
import { Shown } from '../../ui/states'
import { STATES_OF_RUN } from './runs'

type NodeState = {
  nodeId: string
  name: string
  status: keyof typeof STATES_OF_RUN
  error: string | null
  output: unknown
}
type CanvasRun = { id: string; status: keyof typeof STATES_OF_RUN; startedAt: string; nodes: NodeState[] }

const TONES = { completed: 'good', failed: 'bad', running: 'run' } as const

/** The runs of a canvas's workflow, each drawn on its graph. */
export function CanvasRuns({ path, graph }: { path: string; graph: CanvasGraph }) {
  const runs = useGet<{ runs: CanvasRun[] }>(`${path}/runs`, {}, { everyMs: 5_000 })
  const [open, setOpen] = useState<string | null>(null)
  const [node, setNode] = useState<string | null>(null)
  return (
    <Shown of={runs} rows={3}>
      {({ runs: found }) => {
        const run = found.find(({ id }) => id === open) ?? found[0]
        if (!run) return <p className="faint">No runs yet. Make a workflow of the canvas and run it.</p>
        const stateOf = (id: string) => run.nodes.find(({ nodeId }) => nodeId === id)
        const chosen = node === null ? undefined : stateOf(node)
        return (
          <>
            <Select
              label="Run"
              value={run.id}
              choices={found.map(
                (it) => [it.id, `${new Date(it.startedAt).toLocaleString('en-GB')}, ${it.status}`] as const,
              )}
              onChange={setOpen}
            />
            <p>
              <Chip state={STATES_OF_RUN[run.status]}>{run.status}</Chip> <Time at={run.startedAt} />
            </p>
            <Flow
              nodes={graph.nodes.map(({ id, data }) => {
                const status = stateOf(id)?.status
                const tone = TONES[status as keyof typeof TONES]
                return { id, kind: status ?? 'no step', label: data?.label ?? id, ...(tone ? { tone } : {}) }
              })}
              edges={graph.edges.map(({ source, target }) => ({ source, target }))}
              chosen={node}
              onChoose={setNode}
            />
            {chosen && (
              <Code text={chosen.error ?? JSON.stringify(chosen.output, null, 2) ?? ''} label="output of the node" />
            )}
          </>
        )
      }}
    </Shown>
  )
}

/** The published versions of a canvas. */
export function Versions({ path, done }: { path: string; done(): void }) {
  const versions = useGet<{ versions: CanvasVersion[] }>(`${path}/versions`)
  return (
    <Shown of={versions} rows={3}>
      {({ versions: found }) => (
        <Lines
          of={found}
          empty="No versions yet. Publishing makes one."
          line={({ id, version, createdAt, visibility, graphJson }) => ({
            key: id,
            mark: <b>{version}</b>,
            text: `${graphJson.nodes.length} nodes, ${visibility}`,
            small: <Time at={createdAt} />,
            end: (
              <Actions
                touches={['/evi/canvases']}
                permission="manageSkills"
                actions={[
                  {
                    label: 'Restore…',
                    path: `${path}/versions/${id}/restore`,
                    ask: 'The graph of this version replaces the current one.',
                    done,
                  },
                ]}
              />
            ),
          })}
        />
      )}
    </Shown>
  )
}
