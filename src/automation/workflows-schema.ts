import { defineId, type Id } from '../kernel/ids'
import { PageQuery } from '../kernel/page'
import { JsonObject, namedObject, nullable, oneOf, pageOf, type Static, Timestamp, t } from '../kernel/schema'

export const WorkflowId = defineId('workflow')
export type WorkflowId = Id<'workflow'>
export const WorkflowRunId = defineId('workflow run')
export type WorkflowRunId = Id<'workflow run'>

const TRIGGERS = ['schedule', 'event', 'manual'] as const
export type TriggerType = (typeof TRIGGERS)[number]

const STEP_TYPES = [
  'ai_transform',
  'notification',
  'http',
  'condition',
  'delay',
  'approval',
  'skill',
  'tool',
  'event',
  'transform',
  'output',
] as const
export type StepType = (typeof STEP_TYPES)[number]

const Place = t.Integer({ minimum: 0, description: 'Index of a step, from 0' })

/** One step (docs/api.md 10). By default the following step is next, and a failure ends the run. */
export const Step = namedObject('WorkflowStep', {
  type: oneOf(STEP_TYPES),
  name: t.String({ minLength: 1, maxLength: 128, pattern: '\\S' }),
  config: JsonObject,
  onSuccess: t.Optional(Place),
  onFailure: t.Optional(Place),
  nodeId: t.Optional(t.String({ maxLength: 128, description: 'Node of the canvas that the step was compiled from' })),
})
export type Step = Static<typeof Step>

export const Workflow = namedObject('Workflow', {
  id: WorkflowId.schema,
  userId: t.String({ format: 'uuid' }),
  name: t.String(),
  triggerType: oneOf(TRIGGERS),
  triggerConfig: JsonObject,
  steps: t.Array(Step),
  enabled: t.Boolean(),
  nextRunAt: nullable(Timestamp),
  lastRunAt: nullable(Timestamp),
  failedRuns: t.Optional(t.Integer({ minimum: 0, description: 'In lists with `failedFrom`: begun since then' })),
  canvasId: nullable(t.String({ format: 'uuid', description: 'Canvas that it was compiled from' })),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type Workflow = Static<typeof Workflow>

export const WorkflowPage = pageOf('workflows', Workflow)
export const WorkflowQuery = t.Object({
  ...PageQuery.properties,
  failedFrom: t.Optional(
    t.String({ maxLength: 40, description: 'ISO 8601: adds how many runs that began since then failed' }),
  ),
})
export type WorkflowQuery = Static<typeof WorkflowQuery>

const Name = t.String({ minLength: 1, maxLength: 128, pattern: '\\S' })
const settable = {
  triggerConfig: t.Optional(JsonObject),
  enabled: t.Optional(t.Boolean()),
}
export const MAX_STEPS = 50
const Steps = t.Array(Step, { minItems: 1, maxItems: MAX_STEPS })

/** Body of `POST /workflows`. The verb checks required members, to give the code `missing_fields`. */
export const NewWorkflow = namedObject(
  'NewWorkflow',
  {
    name: t.Optional(t.String({ maxLength: 128 })),
    triggerType: t.Optional(oneOf(TRIGGERS)),
    steps: t.Optional(t.Array(Step, { maxItems: MAX_STEPS })),
    ...settable,
  },
  { description: 'name, triggerType and steps are required' },
)
export type NewWorkflow = Static<typeof NewWorkflow>

/** Body of `PATCH /workflows/{id}`. Absent members stay unchanged. */
export const WorkflowPatch = namedObject('WorkflowPatch', {
  name: t.Optional(Name),
  triggerType: t.Optional(oneOf(TRIGGERS)),
  steps: t.Optional(Steps),
  ...settable,
})

/** The members of a run that contain its input and results. */
export const RUN_WORDS = ['triggerData', 'output', 'error', 'warnings']

const RUN_STATUSES = ['running', 'paused', 'completed', 'failed'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]
export type StepStatus = 'completed' | 'failed' | 'skipped' | 'paused'

export const StepResult = namedObject('WorkflowStepResult', {
  index: t.Integer(),
  name: t.String(),
  type: oneOf(STEP_TYPES),
  nodeId: t.Optional(t.String()),
  status: oneOf(['completed', 'failed', 'skipped', 'paused'] as const),
  output: t.Unknown(),
  error: nullable(t.String()),
  costCents: t.Number(),
  startedAt: nullable(Timestamp),
  completedAt: nullable(Timestamp),
})
export type StepResult = Static<typeof StepResult>

export const WorkflowRun = namedObject('WorkflowRun', {
  id: WorkflowRunId.schema,
  workflowId: WorkflowId.schema,
  status: oneOf(RUN_STATUSES),
  stepsCompleted: t.Integer(),
  error: nullable(t.String()),
  startedAt: Timestamp,
  completedAt: nullable(Timestamp),
  triggerType: oneOf(TRIGGERS),
  triggerData: t.Unknown(),
  stepResults: t.Array(StepResult),
  output: t.Unknown(),
  warnings: t.Array(t.String(), { description: 'Placeholders that had no value' }),
})
export type WorkflowRun = Static<typeof WorkflowRun>

export const RunReply = t.Object({ run: WorkflowRun })
export type RunReply = Static<typeof RunReply>
export const RunPage = pageOf('runs', WorkflowRun)
export const RunQuery = t.Object({ ...PageQuery.properties, status: t.Optional(oneOf(RUN_STATUSES)) })
export type RunQuery = Static<typeof RunQuery>

/** Body of `POST /evi/canvases/{id}/workflow`. Omitted members stay. Initially the canvas's name, and enabled. */
export const OfCanvas = namedObject('CanvasWorkflow', { name: t.Optional(Name), enabled: t.Optional(t.Boolean()) })
export type OfCanvas = Static<typeof OfCanvas>

export const WorkflowReply = t.Object({ workflow: Workflow })

/** The state of one node in a run. If the run reached the node several times, the state of the last time. */
const CanvasNodeState = namedObject('CanvasNodeState', {
  nodeId: t.String(),
  name: t.String(),
  type: oneOf(STEP_TYPES),
  status: oneOf(['waiting', 'running', 'paused', 'completed', 'failed', 'skipped'] as const),
  times: t.Integer({ description: 'How often the run reached this step' }),
  output: t.Unknown(),
  error: nullable(t.String()),
  costCents: t.Number({ description: 'Total of all its executions' }),
  startedAt: nullable(Timestamp),
  completedAt: nullable(Timestamp),
})
export type CanvasNodeState = Static<typeof CanvasNodeState>

/** A run as the canvas shows it: the nodes that are steps, in step order. */
const CanvasRun = namedObject('CanvasRun', { ...WorkflowRun.properties, nodes: t.Array(CanvasNodeState) })
export type CanvasRun = Static<typeof CanvasRun>
export const CanvasRunReply = t.Object({ run: CanvasRun })
export const CanvasRunPage = pageOf('runs', CanvasRun)

/** Body of `POST /workflows/{id}/run`. */
export const NewRun = namedObject('NewWorkflowRun', {
  triggerData: t.Optional(JsonObject),
  stepwise: t.Optional(
    t.Boolean({ description: 'Pause the run after each step until it is approved, for at most a day' }),
  ),
})
export type NewRun = Static<typeof NewRun>

/** Body of `approve` and `reject`. */
export const Verdict = namedObject('WorkflowVerdict', { comment: t.Optional(t.String({ maxLength: 2_000 })) })
export type Verdict = Static<typeof Verdict>
