import { useState } from 'react'
import type { Canvas, CanvasGraph, CanvasProblem } from '../../../../../automation/canvases-schema'
import { slugOf } from '../../../../../kernel/text'
import { Actions, deletion } from '../../shell/actions'
import { useCalls, useSend } from '../../shell/api'
import { unsaved } from '../../shell/form'
import { Button, Choices, Select, Text } from '../../ui/controls'
import { field, JsonField } from '../../ui/fields'
import { Flow } from '../../ui/flow'
import { money } from '../../ui/format'
import { Failed, type Problem } from '../../ui/states'
import { CanvasRuns, Versions } from './canvas-runs'
import { ConfigFields, type Kind } from './config'

const KINDS = ['input', 'prompt', 'model', 'tool', 'knowledge', 'vision', 'condition', 'output'] as const

/** Initial settings of a new node of each kind. */
const BEGINNINGS: Record<(typeof KINDS)[number], object> = {
  input: { triggerType: 'manual' },
  prompt: { content: 'Answer in one sentence.' },
  model: { modelId: 'svc-1-flash' },
  tool: { name: 'calculator', description: 'Calculates' },
  knowledge: { fileKeys: ['knowledge/faq.md'], files: { 'knowledge/faq.md': 'Questions and answers.' } },
  vision: { source: 'upload', instructions: 'Describe the picture.' },
  condition: { expression: 'trigger.amount > 100' },
  output: { format: 'text' },
}

type Node = CanvasGraph['nodes'][number]
export function CanvasBody({ row: canvas, close }: { row: Canvas; close(): void }) {
  const [part, setPart] = useState<'graph' | 'runs' | 'versions' | 'json'>('graph')
  const [graph, setGraph] = useState(canvas.graphJson)
  const change = (next: CanvasGraph) => {
    unsaved.set(true)
    setGraph(next)
  }
  const path = `/evi/canvases/${canvas.id}`
  const save = useSend<unknown, object>('PATCH', path, ['/evi/canvases'])
  return (
    <>
      <div className="between">
        <Choices
          label="Part"
          value={part}
          onChange={setPart}
          choices={{ graph: 'Graph', runs: 'Runs', versions: 'Versions', json: 'JSON' }}
        />
        <Button
          kind="primary"
          busy={save.isPending}
          onClick={() => save.mutate({ graph_json: graph }, { onSuccess: () => unsaved.set(false) })}
        >
          Save
        </Button>
      </div>
      {save.error && <Failed problem={save.error} />}
      {save.isSuccess && (
        <p className="faint" role="status">
          Saved.
        </p>
      )}
      {part === 'graph' && <Graph graph={graph} change={change} path={path} canvas={canvas} />}
      {part === 'json' && (
        <JsonField
          label="Graph as JSON"
          value={graph}
          rows={24}
          onChange={(value) => value instanceof Object && 'nodes' in value && change(value as CanvasGraph)}
        />
      )}
      {part === 'runs' && <CanvasRuns path={path} graph={graph} />}
      {part === 'versions' && <Versions path={path} done={close} />}
      <Actions
        touches={['/evi/canvases']}
        permission="manageSkills"
        actions={[deletion(path, 'The drawing is gone. A skill made of it stays.', close)]}
      />
    </>
  )
}

type Compiled = { compiled: boolean; errors: CanvasProblem[] }
type Tested = { response: string | null; cost_cents: number; errors?: CanvasProblem[] }

type GraphProps = { graph: CanvasGraph; change(graph: CanvasGraph): void; path: string; canvas: Canvas }

/** The graph, the selected node, and the problems of both. */
function Graph({ graph, change, path, canvas }: GraphProps) {
  const calls = useCalls()
  const [chosen, setChosen] = useState<string | null>(graph.nodes[0]?.id ?? null)
  const [kind, setKind] = useState<(typeof KINDS)[number]>('prompt')
  const [compiled, setCompiled] = useState<Compiled | null>(null)
  const [tested, setTested] = useState<Tested | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const node = graph.nodes.find(({ id }) => id === chosen)
  const problems = compiled?.errors ?? tested?.errors ?? []
  const set = (changes: Partial<Node>) =>
    change({ ...graph, nodes: graph.nodes.map((it) => (it.id === chosen ? { ...it, ...changes } : it)) })
  const compile = async () => {
    setProblem(null)
    // A graph that does not compile also returns a result, with another status.
    await calls.json<Compiled>('POST', `${path}/compile`, { body: {} }).then(setCompiled, setProblem)
  }
  const add = () => {
    const id = `${kind}-${graph.nodes.length + 1}`
    const data = { label: kind, config: { ...BEGINNINGS[kind] } }
    change({ ...graph, nodes: [...graph.nodes, { id, type: kind, data }] })
    setChosen(id)
  }
  return (
    <>
      <div className="actions">
        <Select label="Kind of a new node" value={kind} choices={KINDS} onChange={(it) => setKind(it as typeof kind)} />
        <Button onClick={add}>Add node</Button>
        <Button onClick={() => void compile()}>Compile</Button>
      </div>
      <p className="faint">Compile, Test and Publish take the graph as it is saved.</p>
      <Flow
        nodes={graph.nodes.map(({ id, type, data }) => ({
          id,
          kind: type,
          label: data?.label ?? id,
          ...(problems.some(({ nodeId }) => nodeId === id) ? { tone: 'bad' as const } : {}),
        }))}
        edges={graph.edges.map(({ sourceHandle, ...edge }) => ({ ...edge, label: sourceHandle ?? undefined }))}
        chosen={chosen}
        onChoose={setChosen}
      />
      <div role="status">
        {compiled?.compiled && <p className="notice good">It compiles.</p>}
        {problems.map(({ message, nodeId }) => (
          <p key={message} className="notice warn">
            {nodeId && <b>{nodeId}: </b>}
            {message}
          </p>
        ))}
        {tested?.response && (
          <div className="notice">
            <p>{tested.response}</p>
            <small>{money(tested.cost_cents)}</small>
          </div>
        )}
      </div>
      {problem && <Failed problem={problem} />}
      {node && (
        <NodePanel
          key={node.id}
          node={node}
          graph={graph}
          set={set}
          change={change}
          remove={() => {
            change({
              nodes: graph.nodes.filter(({ id }) => id !== node.id),
              edges: graph.edges.filter(({ source, target }) => source !== node.id && target !== node.id),
            })
            setChosen(null)
          }}
        />
      )}
      <Actions
        touches={['/evi/canvases', '/skills']}
        permission="manageSkills"
        actions={[
          {
            label: 'Test…',
            path: `${path}/test`,
            fields: [field('message', 'Message', { kind: 'area', required: true })],
            done: (answer: Tested) => {
              setCompiled(null)
              setTested(answer)
            },
          },
          {
            label: 'Publish…',
            path: `${path}/publish`,
            ask: 'The graph becomes a version of a skill. It is checked first.',
            fields: [
              field('slug', 'Short name', { required: true, help: 'Lower-case letters, digits and hyphens.' }),
              field('version', 'Version', { required: true }),
              field('author.name', 'Author', { required: true }),
              field('visibility', 'Who may install it', {
                kind: 'choice',
                choices: { private: 'only you', org: 'your organization', public: 'everybody, after a review' },
              }),
            ],
            values: { version: '1.0.0', slug: slugOf(canvas.name, 64) },
          },
          { label: 'Make a workflow', path: `${path}/workflow`, body: {} },
        ]}
      />
    </>
  )
}

type PanelProps = {
  node: Node
  graph: CanvasGraph
  set(changes: Partial<Node>): void
  change(graph: CanvasGraph): void
  remove(): void
}

/** One node: its label, its settings, and its outgoing edges. */
function NodePanel({ node, graph, set, change, remove }: PanelProps) {
  const out = graph.edges.filter(({ source }) => source === node.id)
  const connect = (target: string) => {
    const way = out.some((it) => it.sourceHandle === 'true') ? 'false' : 'true'
    const edge = { source: node.id, target, ...(node.type === 'condition' ? { sourceHandle: way } : {}) }
    change({ ...graph, edges: [...graph.edges, edge] })
  }
  const others = graph.nodes.filter(({ id }) => id !== node.id && !out.some(({ target }) => target === id))
  return (
    <section className="card part" aria-label={`Node ${node.data?.label ?? node.id}`}>
      <div className="between">
        <h3>
          {node.type}: {node.data?.label ?? node.id}
        </h3>
        <Button onClick={remove}>Remove node</Button>
      </div>
      <Text
        label="Label"
        value={node.data?.label ?? ''}
        onChange={(text) => set({ data: { ...node.data, label: text } })}
      />
      <ConfigFields
        kind={node.type as Kind}
        value={node.data?.config ?? {}}
        onChange={(config) => set({ data: { ...node.data, config } })}
      />
      <h3>Leads to</h3>
      <ul className="plain-list">
        {out.map((edge) => (
          <li key={`${edge.target}${edge.sourceHandle ?? ''}`}>
            <span>{edge.sourceHandle ?? 'always'}</span>
            <span>{graph.nodes.find(({ id }) => id === edge.target)?.data?.label ?? edge.target}</span>
            <Button
              kind="plain"
              aria-label={`Disconnect ${edge.target}`}
              onClick={() => change({ ...graph, edges: graph.edges.filter((it) => it !== edge) })}
            >
              Disconnect
            </Button>
          </li>
        ))}
      </ul>
      {others.length > 0 && (
        <Select
          label="Connect to"
          value=""
          choices={[['', 'Choose a node'], ...others.map(({ id, data }) => [id, data?.label ?? id] as const)]}
          onChange={connect}
        />
      )}
    </section>
  )
}
