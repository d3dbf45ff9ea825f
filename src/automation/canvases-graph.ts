import { findEngine } from '../engines'
import { isEventPattern } from '../events/schema'
import { messageOf, quoted } from '../kernel/errors'
import { form } from '../kernel/form'
import { isTimeZone, problemOfCron } from '../kernel/schedule'
import { checker, JsonObject, oneOf, type Static, t } from '../kernel/schema'
import { charactersIn } from '../kernel/text'
import { validationError } from '../kernel/validation'
import { MANIFEST_LIMITS, Manifest, Words } from '../skills/schema'
import { ExpressionFault, type Path, parseExpression, pathsOf } from '../text'
import { newAllowance, problemsOf, problemsOfResult } from '../tools'
import { type CanvasEdge, type CanvasGraph, type CanvasNode, type CanvasProblem, GRAPH_LIMITS } from './canvases-schema'
import { graphTooLarge } from './errors'

/** Triggers of a canvas. The last three are aliases of a manual or event trigger (docs/api.md 9.1). */
const TRIGGERS = ['manual', 'keyword', 'event', 'schedule', 'api', 'webhook_event', 'hook_event'] as const

const Cron = t.String({
  pattern: form('^[0-9A-Za-z*,/?#-]+( [0-9A-Za-z*,/?#-]+){4}$', 'five cron fields, such as 0 9 * * 1-5'),
  maxLength: 128,
})
const Instruction = t.String({ minLength: 1, maxLength: MANIFEST_LIMITS.promptChars, pattern: '\\S' })
const FileKeys = t.Array(Manifest.properties.knowledge.items, {
  minItems: 1,
  maxItems: MANIFEST_LIMITS.knowledgeFiles,
})

/** The config of each kind of node. A tool node has the members of a manifest's tool, and the arguments of its step. */
const CONFIGS = {
  input: t.Object({
    triggerType: t.Optional(oneOf(TRIGGERS)),
    keywords: t.Optional(t.Array(Words, { maxItems: 50 })),
    eventPattern: t.Optional(Words),
    cron: t.Optional(Cron),
    timezone: t.Optional(t.String({ maxLength: 64 })),
  }),
  prompt: t.Object({ content: Instruction }),
  model: t.Object({ modelId: Words, temperature: t.Optional(t.Number({ minimum: 0, maximum: 2 })) }),
  tool: t.Object({ ...Manifest.properties.tools.items.properties, arguments: t.Optional(JsonObject) }),
  knowledge: t.Object({ fileKeys: FileKeys, files: Manifest.properties.knowledgeFiles }),
  vision: t.Object({
    source: oneOf(['upload', 'url', 'step'] as const),
    url: t.Optional(t.String({ pattern: form('^https?://[^\\s<>"]+$', 'an http or https address'), maxLength: 2_048 })),
    step: t.Optional(t.String({ minLength: 1, maxLength: 128 })),
    instructions: Instruction,
  }),
  condition: t.Object({ expression: t.String({ minLength: 1, maxLength: 2_000 }) }),
  output: t.Object({ format: t.Optional(oneOf(['text', 'json', 'markdown', 'file'] as const)) }),
} as const

export type Kind = keyof typeof CONFIGS
const KINDS = Object.keys(CONFIGS) as Kind[]

/** A node's basic members, known even when its config is invalid. */
export type NodeOutline = { id: string; kind: Kind | null; label: string }
/** A node with a valid config. */
export type ReadNode = {
  [K in Kind]: { id: string; kind: K; label: string; config: Static<(typeof CONFIGS)[K]> }
}[Kind]
export type NodeOf<K extends Kind> = Extract<ReadNode, { kind: K }>

/** Kinds of nodes that become workflow steps. The other kinds configure those steps. */
const STEP_KINDS = ['model', 'tool', 'vision', 'condition', 'output'] as const
export type StepNode = NodeOf<(typeof STEP_KINDS)[number]>

export const isStep = (node: ReadNode): node is StepNode => (STEP_KINDS as readonly Kind[]).includes(node.kind)

/** A Map, because node types are user input and an object would find inherited names such as `constructor`. */
const CHECKS = new Map<string, ReturnType<typeof checker>>(
  Object.entries(CONFIGS).map(([kind, schema]) => [kind, checker(schema)]),
)

/** The node's kind. Null when it is unknown, or when `type` and `data.type` differ. */
function kindOf({ type, data }: CanvasNode): Kind | null {
  return CHECKS.has(type) && (data?.type === undefined || data.type === type) ? (type as Kind) : null
}

const drawn = (node: CanvasNode): NodeOutline => ({
  id: node.id,
  kind: kindOf(node),
  label: node.data?.label?.trim() || node.id,
})

/** The node with its parsed config, or the problems of its config, one sentence each. */
function readNode(node: CanvasNode, kind: Kind): ReadNode | string[] {
  const config = node.data?.config ?? {}
  const check = CHECKS.get(kind)!
  if (check.is(config)) return { ...drawn(node), kind, config } as ReadNode
  const findings = check.issues(config).map((issue) => ({ ...issue, path: issue.path.split('.') }))
  return (validationError(findings, config).details ?? []).map(({ message }) => message)
}

/** An edge between two existing nodes. `handle` is the answer it follows when the source is a condition, else null. */
type Arrow = { source: string; target: string; handle: 'true' | 'false' | null }

/** The edges of a graph by source and by target. */
export type Links = { out(id: string): readonly Arrow[]; into(id: string): readonly Arrow[] }

/** All nodes reachable from `start`, itself included. */
export function reachedFrom(start: string, { out }: Links): Set<string> {
  return spread([start], (id) => out(id).map(({ target }) => target))
}

/** All nodes that lead to `end`. Contains `end` itself only when it lies on a cycle. */
export function leadingTo(end: string, { into }: Links): Set<string> {
  const sources = (id: string) => into(id).map(({ source }) => source)
  return spread(sources(end), sources)
}

function spread(start: readonly string[], next: (id: string) => readonly string[]): Set<string> {
  const seen = new Set(start)
  for (const id of seen) for (const neighbour of next(id)) seen.add(neighbour)
  return seen
}

/** Sorts nodes topologically and otherwise in drawing order. `stuck` are the nodes in a cycle or after one. */
export function inOrder(ids: readonly string[], links: Links): { order: string[]; stuck: string[] } {
  const order: string[] = []
  const done = new Set<string>()
  let waiting = [...ids]
  for (let found = true; found; ) {
    const ready = waiting.find((id) => links.into(id).every(({ source }) => done.has(source)))
    found = ready !== undefined
    if (ready === undefined) break
    order.push(ready)
    done.add(ready)
    waiting = waiting.filter((id) => id !== ready)
  }
  return { order, stuck: waiting }
}

/** One cycle among the stuck nodes. Its first node is repeated at the end. */
export function cycleAmong(stuck: readonly string[], { into }: Links): string[] {
  const among = new Set(stuck)
  const path: string[] = []
  for (let id = stuck[0]!; ; ) {
    const met = path.indexOf(id)
    path.push(id)
    if (met >= 0) return path.slice(met).reverse()
    id = into(id).find(({ source }) => among.has(source))!.source
  }
}

/** A parsed graph. `nodes` are all nodes, `arrows` the valid edges, `read` the nodes whose config is valid. */
export type ParsedGraph = {
  nodes: readonly NodeOutline[]
  arrows: readonly Arrow[]
  links: Links
  read: readonly ReadNode[]
}

/** The problem of a graph that is too large to check in detail. Undefined when it is small enough. */
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

/** Reads nodes and edges one by one. Reports and omits invalid ones. */
export function parseGraph({ nodes, edges }: CanvasGraph): { drawing: ParsedGraph; problems: CanvasProblem[] } {
  const problems: CanvasProblem[] = []
  const known = new Map<string, NodeOutline>()
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
  const bySource = Map.groupBy(arrows, ({ source }) => source)
  const byTarget = Map.groupBy(arrows, ({ target }) => target)
  const links: Links = { out: (id) => bySource.get(id) ?? [], into: (id) => byTarget.get(id) ?? [] }
  return { drawing: { nodes: [...known.values()], arrows, links, read }, problems }
}

function readEdge(edge: CanvasEdge, known: ReadonlyMap<string, NodeOutline>, problems: CanvasProblem[]): Arrow[] {
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

function unknownKind(shape: NodeOutline, type: string, inner: string | undefined): string {
  return inner !== undefined && inner !== type && KINDS.some((kind) => kind === type)
    ? `${named(shape)} has the type ${name(type)} outside and ${name(inner)} inside. Make both the same.`
    : `${named(shape)} has the unknown type ${name(type)}. Use ${KINDS.join(', ')}.`
}

const name = (text: unknown): string => `"${quoted(text)}"`

/** A node as the subject of a sentence: `Node "label"`. */
export const named = ({ label }: Pick<NodeOutline, 'label'>): string => `Node ${name(label)}`

/** Problems in the content of well-formed nodes: of each node, between tools, and in total. */
export function contentProblems({ read, links }: ParsedGraph): CanvasProblem[] {
  return [...read.flatMap((node) => alone(node, read, links)), ...toolProblems(read), ...totalProblems(read)]
}

const wrong = (node: ReadNode, fault: string, code: CanvasProblem['code'] = 'invalid_config'): CanvasProblem => ({
  code,
  message: `${named(node)}: ${fault}`,
  nodeId: node.id,
})

function alone(node: ReadNode, read: ParsedGraph['read'], links: ParsedGraph['links']): CanvasProblem[] {
  switch (node.kind) {
    case 'input':
      return inputProblems(node)
    case 'model':
      return findEngine(node.config.modelId)
        ? []
        : [
            wrong(
              node,
              `"modelId" is ${messageOf(node.config.modelId)}, which is not an engine. GET /models lists them.`,
            ),
          ]
    case 'knowledge':
      return knowledgeProblems(node)
    case 'vision':
      return visionProblems(node, stepsBefore(node, read, links))
    case 'condition':
      return expressionProblems(node, stepsBefore(node, read, links))
    default:
      return []
  }
}

function stepsBefore(node: ReadNode, read: ParsedGraph['read'], links: ParsedGraph['links']): ReadNode[] {
  const before = leadingTo(node.id, links)
  return read.filter((node) => before.has(node.id) && isStep(node))
}

const NEEDS = {
  manual: null,
  api: null,
  keyword: 'keywords',
  event: 'eventPattern',
  webhook_event: 'eventPattern',
  hook_event: 'eventPattern',
  schedule: 'cron',
} as const

function inputProblems(node: NodeOf<'input'>): CanvasProblem[] {
  const { config } = node
  const needed = NEEDS[config.triggerType ?? 'manual']
  if (needed === null) return []
  if (!config[needed]?.length)
    return [wrong(node, `"triggerType" is ${config.triggerType}, so "${needed}" is required.`)]
  return timingProblems(config).map((sentence) => wrong(node, sentence))
}

/** Problems in the trigger's settings that the skill review would reject. Checks only the settings that are used. */
function timingProblems({ triggerType, eventPattern, cron, timezone }: NodeOf<'input'>['config']): string[] {
  if (triggerType === 'schedule') {
    const problem = problemOfCron(cron!)
    const foreign = timezone !== undefined && !isTimeZone(timezone)
    return [
      ...(problem ? [`"cron" is ${messageOf(cron)}, which ${problem}.`] : []),
      ...(foreign ? [`"timezone" is ${messageOf(timezone)}, which is not a time zone such as Europe/Vienna.`] : []),
    ]
  }
  if (triggerType === 'keyword' || isEventPattern(eventPattern!)) return []
  return [`"eventPattern" is ${messageOf(eventPattern)}; it must be the name of an event such as order.created.`]
}

function knowledgeProblems(node: NodeOf<'knowledge'>): CanvasProblem[] {
  const stray = Object.keys(node.config.files ?? {}).find((path) => !node.config.fileKeys.includes(path))
  return stray === undefined ? [] : [wrong(node, `"files" contains ${messageOf(stray)}, which is not in "fileKeys".`)]
}

function visionProblems(node: NodeOf<'vision'>, before: readonly ReadNode[]): CanvasProblem[] {
  const { source, url, step } = node.config
  if (source === 'url' && !url) return [wrong(node, '"source" is url, so "url" is required.')]
  if (source !== 'step') return []
  if (!step) return [wrong(node, '"source" is step, so "step" is required: the id of a node before this one.')]
  return before.some(({ id }) => id === step)
    ? []
    : [wrong(node, `"step" is ${messageOf(step)}, which is not a step before this one.`)]
}

function expressionProblems(node: NodeOf<'condition'>, before: readonly ReadNode[]): CanvasProblem[] {
  try {
    const strange = pathsOf(parseExpression(node.config.expression)).find((path) => !leadsBack(path, before))
    if (!strange) return []
    const fault = `"expression" reads steps[${messageOf(strange[1])}], which is not a step before it.`
    return [wrong(node, fault, 'invalid_expression')]
  } catch (error) {
    if (!(error instanceof ExpressionFault)) throw error
    return [wrong(node, `"expression" cannot be read: ${error.message}.`, 'invalid_expression')]
  }
}

/** Whether a path refers to an earlier step by label, because authors of canvases do not see step numbers. */
const leadsBack = ([root, step]: Path, before: readonly ReadNode[]): boolean =>
  root !== 'steps' || typeof step !== 'string' || before.some(({ label }) => label === step)

function toolProblems(read: ParsedGraph['read']): CanvasProblem[] {
  const allowance = newAllowance()
  const seen = new Set<string>()
  return read.flatMap((node) => {
    if (node.kind !== 'tool') return []
    const { name, inputSchema, outputSchema } = node.config
    const isAgain = seen.has(name)
    seen.add(name)
    const problems = [
      ...(inputSchema ? problemsOf(inputSchema, 'inputSchema', allowance) : []),
      ...(outputSchema ? problemsOfResult(outputSchema, 'outputSchema', allowance) : []),
    ]
    return [
      ...(isAgain ? [wrong(node, `"name" is ${messageOf(name)}, which another tool already has.`)] : []),
      ...problems.map(({ path, message }) => wrong(node, `"${path}" ${message}.`)),
    ]
  })
}

/** Limits of a manifest that apply to all nodes together. */
function totalProblems(read: ParsedGraph['read']): CanvasProblem[] {
  const { promptChars, tools, knowledgeFiles, knowledgeChars } = MANIFEST_LIMITS
  const lengths = read.map((node) =>
    node.kind === 'prompt' ? charactersIn(node.config.content) + PROMPT_GAP.length : 0,
  )
  const texts = new Map(
    read.flatMap((node) => (node.kind === 'knowledge' ? Object.entries(node.config.files ?? {}) : [])),
  )
  const textChars = [...texts.values()].reduce((sum, text) => sum + charactersIn(text), 0)
  const files = new Set(read.flatMap((node) => (node.kind === 'knowledge' ? node.config.fileKeys : [])))
  return [
    tooMany(
      'The prompts together have',
      'characters',
      lengths.reduce((sum, length) => sum + length, 0),
      promptChars,
    ),
    tooMany('The canvas has', 'tools', read.filter(({ kind }) => kind === 'tool').length, tools),
    tooMany('The canvas names', 'knowledge files', files.size, knowledgeFiles),
    tooMany('The knowledge files together have', 'characters', textChars, knowledgeChars),
  ].flat()
}

/** Separates prompts that are joined into one text. */
export const PROMPT_GAP = '\n\n'

const tooMany = (start: string, what: string, count: number, max: number): CanvasProblem[] =>
  count <= max ? [] : [{ code: 'invalid_config', message: `${start} ${count} ${what}; at most ${max} are allowed.` }]

export const EMPTY_GRAPH: CanvasGraph = { nodes: [], edges: [] }

/** The graph as stored, and its size as JSON in bytes. Throws 400 `validation_error` above 2 MiB. */
export function storable({ nodes, edges }: CanvasGraph): { graph: CanvasGraph; graph_bytes: number } {
  const graph = { nodes, edges }
  const graph_bytes = Buffer.byteLength(JSON.stringify(graph))
  if (graph_bytes > GRAPH_LIMITS.bytes) throw graphTooLarge(graph_bytes)
  return { graph, graph_bytes }
}
