import type { Canvas } from '../../../../../automation/canvases-schema'
import { Form } from '../../shell/form'
import { defineScreen } from '../../shell/screen'
import { Chip } from '../../ui/controls'
import { whole } from '../../ui/format'
import { changedColumn } from '../../ui/table'
import { CanvasBody } from './canvas'

const STATES = { draft: 'off', testing: 'run', published: 'good' } as const

/** A graph that compiles: a question in, a prompt, an engine, an answer out. */
const BEGINNING = {
  nodes: [
    { id: 'in', type: 'input', data: { label: 'Question', config: { triggerType: 'manual' } } },
    { id: 'prompt', type: 'prompt', data: { label: 'Instructions', config: { content: 'Answer in one sentence.' } } },
    { id: 'model', type: 'model', data: { label: 'Answer', config: { modelId: 'svc-1-flash' } } },
    { id: 'out', type: 'output', data: { label: 'Reply', config: { format: 'text' } } },
  ],
  edges: [
    { source: 'in', target: 'prompt' },
    { source: 'prompt', target: 'model' },
    { source: 'model', target: 'out' },
  ],
}

export const Canvases = defineScreen<Canvas>({
  section: 'workflows',
  title: 'Workflows',
  list: { path: '/evi/canvases', rows: 'canvases' },
  idOf: ({ id }) => id,
  columns: [
    { key: 'name', head: 'Name', cell: ({ name }) => name, main: true, width: 'minmax(0, 1.6fr)' },
    {
      key: 'status',
      head: 'State',
      cell: ({ status }) => <Chip state={STATES[status]}>{status}</Chip>,
      main: true,
      width: '120px',
    },
    { key: 'nodes', head: 'Nodes', cell: ({ graphJson }) => whole(graphJson.nodes.length), number: true, main: true },
    { key: 'public', head: 'Public', cell: ({ isPublic }) => (isPublic ? 'yes' : 'no'), width: '88px' },
    changedColumn(({ updatedAt }) => updatedAt),
  ],
  empty: {
    text: 'No canvases. A canvas is a skill drawn as a graph of prompts, engines and tools.',
    command: 'svc-admin canvases create NAME',
  },
  detail: {
    path: (id) => `/evi/canvases/${id}`,
    member: 'canvas',
    titleOf: ({ name }) => name,
    body: CanvasBody,
    wide: true,
  },
  create: {
    label: 'New canvas',
    permission: 'manageSkills',
    form: ({ close }) => (
      <Form
        fields={[
          { name: 'name', label: 'Name', required: true },
          { name: 'description', label: 'What it is for', empty: 'null' },
        ]}
        method="POST"
        path="/evi/canvases"
        touches={['/evi/canvases']}
        verb="Create canvas"
        more={{ graph_json: BEGINNING }}
        onCancel={close}
        onDone={close}
      />
    ),
  },
})
