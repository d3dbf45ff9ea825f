import type { Canvas } from '../../../../../automation/canvases-schema'
import type { Workflow } from '../../../../../automation/workflows-schema'
import { useGet } from '../../shell/api'
import { defineScreen } from '../../shell/screen'
import { changedColumn, chipColumn, column } from '../../ui/columns'
import { field } from '../../ui/fields'
import { Ago, whole } from '../../ui/format'
import { CanvasBody } from './canvas'

const STATES = { draft: 'off', testing: 'run', published: 'good' } as const

const node = (id: string, type: string, label: string, config: object) => ({ id, type, data: { label, config } })
const line = (...ids: string[]) => ids.slice(1).map((target, at) => ({ source: ids[at]!, target }))
const QUESTION = node('in', 'input', 'Question', { triggerType: 'manual' })
const prompt = (id: string, label: string, content: string) => node(id, 'prompt', label, { content })
const model = (id: string, label: string) => node(id, 'model', label, { modelId: 'svc-1-flash' })
const REPLY = node('out', 'output', 'Reply', { format: 'text' })

/** Graphs that compile, as starting points. */
const TEMPLATES = {
  'Answer a question': {
    nodes: [QUESTION, prompt('prompt', 'Instructions', 'Answer in one sentence.'), model('model', 'Answer'), REPLY],
    edges: line('in', 'prompt', 'model', 'out'),
  },
  'Draft, then improve': {
    nodes: [
      QUESTION,
      prompt('first', 'Draft it', 'Draft an answer.'),
      model('draft', 'Draft'),
      prompt('second', 'Improve it', 'Make this draft shorter and clearer.'),
      model('final', 'Answer'),
      REPLY,
    ],
    edges: line('in', 'first', 'draft', 'second', 'final', 'out'),
  },
  'Decide by a word': {
    nodes: [
      QUESTION,
      node('if', 'condition', 'Is it urgent?', { expression: 'trigger.message contains "urgent"' }),
      prompt('soon', 'Urgent', 'Answer in one sentence, with what to do first.'),
      model('short', 'Short answer'),
      prompt('later', 'Not urgent', 'Answer in full.'),
      model('long', 'Long answer'),
      REPLY,
    ],
    edges: [
      ...line('in', 'if'),
      { source: 'if', target: 'soon', sourceHandle: 'true' },
      { source: 'if', target: 'later', sourceHandle: 'false' },
      ...line('soon', 'short', 'out'),
      ...line('later', 'long', 'out'),
    ],
  },
}

/** Time of its workflow's last run. All rows share one call. */
function LastRun({ id }: Canvas) {
  const { data } = useGet<{ workflows: Workflow[] }>('/workflows', { limit: 100 })
  const ran = data?.workflows.find(({ canvasId }) => canvasId === id)?.lastRunAt
  return ran ? <Ago at={ran} /> : data ? 'never' : '–'
}

/** Operators whose role may not see people's texts get no graph. */
const nodesOf = ({ graphJson: { nodes } }: Canvas) => (nodes ? whole(nodes.length) : '–')

export const Canvases = defineScreen<Canvas>('workflows', 'Workflows', {
  list: { path: '/evi/canvases', rows: 'canvases' },
  columns: [
    column('name', 'Name', { main: true, width: 'minmax(0, 1.6fr)' }),
    chipColumn('status', 'State', ({ status }) => [STATES[status], status], { width: '120px' }),
    column('nodes', 'Nodes', { cell: nodesOf, number: true, main: true }),
    column('last', 'Last run', { cell: (it) => <LastRun {...it} />, number: true, width: '128px' }),
    column('public', 'Public', { cell: ({ isPublic }) => (isPublic ? 'yes' : 'no'), width: '88px' }),
    changedColumn(({ updatedAt }) => updatedAt),
  ],
  empty: {
    text: 'No canvases. A canvas is a skill drawn as a graph of prompts, engines and tools.',
    command: 'svc-admin canvases create -f canvas.json',
  },
  detail: {
    path: (id) => `/evi/canvases/${id}`,
    member: 'canvas',
    titleOf: ({ name }) => name,
    body: ({ row, close }) => (row.graphJson.nodes ? <CanvasBody row={row} close={close} /> : null),
    wide: true,
  },
  create: {
    label: 'New canvas',
    permission: 'manageSkills',
    form: {
      fields: [
        field('name', 'Name', { required: true }),
        field('description', 'What it is for', { empty: 'null' }),
        field('template', 'Begin with', { kind: 'choice', choices: Object.keys(TEMPLATES) }),
      ],
      verb: 'Create canvas',
      values: { template: 'Answer a question' },
      more: ({ template, ...body }) => ({ ...body, graph_json: TEMPLATES[template as keyof typeof TEMPLATES] }),
    },
  },
})
