import { defineId, type Id } from '../kernel/ids'
import { JsonObject, namedObject, nullable, oneOf, pageOf, type Static, Timestamp, t } from '../kernel/schema'
import { Manifest, ManifestWarnings, Review, Submission, VISIBILITIES } from '../skills/schema'

export const CanvasId = defineId('canvas')
export type CanvasId = Id<'canvas'>
export const CanvasVersionId = defineId('canvas version')
export type CanvasVersionId = Id<'canvas version'>

/** `nodes` and `edges` limit compiling. Saving allows more, because a canvas may be unfinished (docs/api.md 9.1). */
export const GRAPH_LIMITS = { nodes: 100, edges: 200, savedNodes: 10_000, savedEdges: 20_000, bytes: 2 * 1024 * 1024 }

const NodeRef = t.String({ minLength: 1, maxLength: 128 })

/** Extra members that editors add are stored and returned unchanged. */
const OPEN = { additionalProperties: true }

export const CanvasNode = namedObject(
  'CanvasNode',
  {
    id: NodeRef,
    type: t.String({
      maxLength: 64,
      description: 'input, prompt, model, tool, knowledge, vision, condition or output',
    }),
    position: t.Optional(t.Object({ x: t.Number(), y: t.Number() }, OPEN)),
    data: t.Optional(
      t.Object(
        {
          type: t.Optional(t.String({ maxLength: 64 })),
          label: t.Optional(t.String({ maxLength: 200 })),
          config: t.Optional(JsonObject),
        },
        OPEN,
      ),
    ),
  },
  { ...OPEN },
)
export type CanvasNode = Static<typeof CanvasNode>

export const CanvasEdge = namedObject(
  'CanvasEdge',
  {
    id: t.Optional(t.String({ maxLength: 256 })),
    source: NodeRef,
    target: NodeRef,
    sourceHandle: t.Optional(
      nullable(
        t.String({
          maxLength: 64,
          description: '"true" or "false" if the source is a condition node: the branch this edge follows',
        }),
      ),
    ),
  },
  { ...OPEN },
)
export type CanvasEdge = Static<typeof CanvasEdge>

/** A canvas graph. Extra members of nodes and edges are kept. */
export const CanvasGraph = namedObject('CanvasGraph', {
  nodes: t.Array(CanvasNode, { maxItems: GRAPH_LIMITS.savedNodes }),
  edges: t.Array(CanvasEdge, { maxItems: GRAPH_LIMITS.savedEdges }),
})
export type CanvasGraph = Static<typeof CanvasGraph>

const PROBLEM_CODES = [
  'cycle_detected',
  'model_no_prompt',
  'missing_input',
  'multiple_inputs',
  'no_output',
  'unreachable_node',
  'invalid_node_type',
  'invalid_edge',
  'invalid_config',
  'invalid_expression',
] as const

/** Why a canvas does not compile. */
export const CanvasProblem = namedObject('CanvasProblem', {
  code: oneOf(PROBLEM_CODES),
  message: t.String(),
  nodeId: t.Optional(t.String()),
})
export type CanvasProblem = Static<typeof CanvasProblem>

/** One step of a workflow (docs/api.md 10). Without `onSuccess` the following step is next. `nodeId` may be absent. */
export const CanvasStep = namedObject('CanvasStep', {
  type: t.String(),
  name: t.String(),
  config: JsonObject,
  onSuccess: t.Optional(t.Integer({ minimum: 0 })),
  nodeId: t.Optional(t.String()),
})
export type CanvasStep = Static<typeof CanvasStep>

const CANVAS_STATUSES = ['draft', 'testing', 'published'] as const
export type CanvasStatus = (typeof CANVAS_STATUSES)[number]

export const Canvas = namedObject('Canvas', {
  id: CanvasId.schema,
  name: t.String(),
  description: nullable(t.String()),
  status: oneOf(CANVAS_STATUSES),
  graphJson: CanvasGraph,
  compiledManifest: nullable(JsonObject),
  compiledWorkflowSteps: nullable(t.Array(CanvasStep)),
  isPublic: t.Boolean(),
  publishedSkillId: nullable(t.String({ format: 'uuid' })),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type Canvas = Static<typeof Canvas>

export const CanvasPage = pageOf('canvases', Canvas)
export const CanvasReply = t.Object({ canvas: Canvas })
const written = Manifest.properties
/** Any text. Publishing derives a name that suits a skill. */
const Name = t.String({ minLength: 1, maxLength: 128, pattern: '\\S' })
const Description = nullable(t.String({ maxLength: 500 }))

/** Body of `POST /evi/canvases`. */
export const NewCanvas = namedObject('NewCanvas', {
  name: Name,
  description: t.Optional(Description),
  graph_json: t.Optional(CanvasGraph),
})
export type NewCanvas = Static<typeof NewCanvas>

/** Body of `PATCH /evi/canvases/{id}`. Absent members stay unchanged. */
export const CanvasPatch = namedObject('CanvasPatch', {
  name: t.Optional(Name),
  description: t.Optional(Description),
  graph_json: t.Optional(CanvasGraph),
  is_public: t.Optional(t.Boolean()),
})
export type CanvasPatch = Static<typeof CanvasPatch>

/** Answer of a successful compilation (docs/api.md 9.2). */
export const Compiled = namedObject('CompiledCanvas', {
  compiled: t.Literal(true),
  manifest: JsonObject,
  steps: t.Array(CanvasStep),
  errors: t.Array(CanvasProblem),
  warnings: ManifestWarnings,
})
export const CompileRefusal = namedObject('CompileRefusal', {
  compiled: t.Literal(false),
  manifest: t.Null(),
  steps: t.Null(),
  errors: t.Array(CanvasProblem),
})

export const TestInput = namedObject('CanvasTestOrder', {
  message: t.String({ minLength: 1, maxLength: 4_000 }),
  history: t.Optional(
    t.Array(t.Object({ role: oneOf(['user', 'assistant'] as const), content: t.String({ maxLength: 100_000 }) }), {
      maxItems: 10,
    }),
  ),
})
export type TestInput = Static<typeof TestInput>

export const Tested = namedObject('CanvasTest', { response: nullable(t.String()), cost_cents: t.Number() })
export const TestRefusal = namedObject('CanvasTestRefusal', {
  response: t.Null(),
  cost_cents: t.Literal(0),
  errors: t.Array(CanvasProblem),
})

/** Body of `POST /evi/canvases/{id}/publish` (docs/api.md 9.3). */
export const PublishInput = namedObject('CanvasPublishOrder', {
  slug: written.slug,
  version: written.version,
  author: written.author,
  visibility: t.Optional(oneOf(VISIBILITIES)),
  target_org_id: t.Optional(nullable(t.String({ format: 'uuid' }))),
  readme: written.readme,
  license: written.license,
  keywords: written.keywords,
})
export type PublishInput = Static<typeof PublishInput>

/** The published skill and the state of its review. */
export const Published = namedObject('PublishedCanvas', {
  published: t.Literal(true),
  visibility: oneOf(VISIBILITIES),
  submission: t.Pick(Submission, ['id', 'status', 'reviewTier', 'autoApproved']),
  skillId: Submission.properties.skillId,
  warnings: ManifestWarnings,
})
export type Published = Static<typeof Published>

/** Why a canvas was not published: it does not compile, or it did not pass the review. */
export const PublishRefusal = namedObject('CanvasPublishRefusal', {
  published: t.Literal(false),
  visibility: oneOf(VISIBILITIES),
  submission: t.Null(),
  skillId: t.Null(),
  errors: t.Optional(t.Array(CanvasProblem)),
  review: t.Optional(Review),
})
export type PublishRefusal = Static<typeof PublishRefusal>

export const CanvasVersion = namedObject('CanvasVersion', {
  id: CanvasVersionId.schema,
  version: t.String(),
  graphJson: CanvasGraph,
  compiledManifest: JsonObject,
  visibility: oneOf(VISIBILITIES),
  skillId: t.String({ format: 'uuid' }),
  submissionId: t.String({ format: 'uuid' }),
  createdAt: Timestamp,
})
export type CanvasVersion = Static<typeof CanvasVersion>
export const CanvasVersionPage = pageOf('versions', CanvasVersion)
