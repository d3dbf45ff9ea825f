import { pruneManifest, type SkillManifest, storedTool, warningsOf, withDefaults } from '../skills'
import type { WrittenManifest } from '../skills/schema'
import type { Answer } from './canvases-compile'
import { isStep, type Links, leadingTo, type NodeOf, PROMPT_GAP, type ReadNode, type StepNode } from './canvases-graph'
import type { CanvasStep } from './canvases-schema'

/** Makes step names unique by numbering repeated labels. */
export function stepNames(labels: readonly string[]): string[] {
  const taken = new Set<string>()
  return labels.map((label) => {
    let name = label
    for (let again = 2; taken.has(name); again++) name = `${label} ${again}`
    taken.add(name)
    return name
  })
}

/** A canvas with its nodes in the order they run. */
export type Plan = {
  input: NodeOf<'input'>
  nodes: readonly ReadNode[]
  links: Links
  /** Index of each node's step in the list of steps. */
  placeOf: ReadonlyMap<string, number>
}

/** Converts a node to a workflow step (docs/api.md 10). */
export function toStep(node: StepNode, name: string, plan: Plan): CanvasStep {
  switch (node.kind) {
    case 'model':
      return { type: 'ai_transform', name, config: modelConfig(node, plan) }
    case 'vision':
      return { type: 'ai_transform', name, config: visionConfig(node, plan) }
    case 'tool': {
      const { name: called, arguments: _, ...tool } = node.config
      const config = { name: called, arguments: argumentsOf(node, plan), tool: storedTool(tool) }
      return { type: 'tool', name, config }
    }
    case 'condition':
      return { type: 'condition', name, config: { expression: node.config.expression } }
    case 'output':
      return { type: 'output', name, config: { format: node.config.format ?? 'text' } }
  }
}

function modelConfig(node: NodeOf<'model'>, plan: Plan): CanvasStep['config'] {
  const { modelId, temperature } = node.config
  const prompt = promptsFor(node, plan)
  return {
    prompt: prompt.includes('{{') ? prompt : prompt + given(node, plan),
    model: modelId,
    ...(temperature === undefined ? {} : { temperature }),
  }
}

/** The prompts that lead to a model without another model or vision node in between, else all prompts before it. */
function promptsFor({ id }: ReadNode, { nodes, links }: Plan): string {
  const kinds = new Map(nodes.map((node) => [node.id, node.kind]))
  const near = new Set<string>()
  const pending = [id]
  for (const at of pending) {
    for (const { source } of links.into(at)) {
      if (near.has(source) || ['model', 'vision'].includes(kinds.get(source)!)) continue
      near.add(source)
      pending.push(source)
    }
  }
  const joined = (among: ReadonlySet<string>) =>
    nodes
      .flatMap((node) => (node.kind === 'prompt' && among.has(node.id) ? [node.config.content] : []))
      .join(PROMPT_GAP)
  return joined(near) || joined(leadingTo(id, links))
}

/**
 * The model's input besides its prompt: the outputs of the nearest earlier steps, or the trigger's data if there are
 * none. Steps that did not run contribute nothing.
 */
function given(node: StepNode, plan: Plan): string {
  const found = sourcesOf(node, plan).map(({ id, kind }) => {
    const member = kind === 'model' || kind === 'vision' ? '.text' : ''
    return `${PROMPT_GAP}{{steps.${plan.placeOf.get(id)}.output${member}}}`
  })
  return found.length ? found.join('') : request(plan.input)
}

/** A condition that is true when one of the answers was given. A condition that never ran gave no answer. */
export function guardStep(name: string, waitsFor: readonly Answer[], { placeOf }: Pick<Plan, 'placeOf'>): CanvasStep {
  const conditions = waitsFor.map(
    ({ condition, answer }) => `steps.${placeOf.get(condition)}.output.result == ${answer}`,
  )
  return { type: 'condition', name, config: { expression: conditions.join(' || ') } }
}

/** The nearest earlier steps on every path back. Skips conditions, because they produce no data. */
function sourcesOf({ id }: StepNode, { nodes, links }: Plan): StepNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const found = new Set<StepNode>()
  const seen = new Set([id])
  for (const at of seen) {
    for (const { source } of links.into(at)) {
      const node = byId.get(source)!
      if (isStep(node) && node.kind !== 'condition') found.add(node)
      else seen.add(source)
    }
  }
  return nodes.filter((node): node is StepNode => (found as ReadonlySet<ReadNode>).has(node))
}

/** Template of the trigger's data. A schedule has none. */
function request({ config }: NodeOf<'input'>): string {
  switch (config.triggerType ?? 'manual') {
    case 'schedule':
      return ''
    case 'event':
    case 'webhook_event':
    case 'hook_event':
      return `${PROMPT_GAP}{{trigger.payload}}`
    default:
      return `${PROMPT_GAP}{{trigger.message}}`
  }
}

function visionConfig({ config }: NodeOf<'vision'>, { placeOf }: Plan): CanvasStep['config'] {
  const attachments = {
    upload: '{{trigger.attachments}}',
    url: [{ type: 'image_url', url: config.url }],
    step: `{{steps.${placeOf.get(config.step ?? '')}.output.artifacts}}`,
  }[config.source]
  return { prompt: config.instructions, mode: 'vision', attachments }
}

/** The step contains its tool definition, so it works in a workflow before any skill has the tool. */
const PLAIN_NAME = /^[A-Za-z_]\w*$/

/**
 * The arguments of a tool step. If none are given, each property of the input schema is filled with the member of the
 * same name in the earlier step's output or the trigger.
 */
function argumentsOf(node: NodeOf<'tool'>, plan: Plan): Record<string, unknown> {
  const { arguments: configured, inputSchema } = node.config
  if (configured) return configured
  const [only, ...more] = sourcesOf(node, plan)
  const from = !only ? 'trigger' : more.length ? 'previous.output' : `steps.${plan.placeOf.get(only.id)}.output`
  const names = Object.keys((inputSchema?.properties as object | undefined) ?? {}).filter((name) =>
    PLAIN_NAME.test(name),
  )
  return Object.fromEntries(names.map((name) => [name, `{{${from}.${name}}}`]))
}

/** Manifest members that are not part of the graph: the name, and what the author provides on publishing. */
export type About = Pick<WrittenManifest, 'name' | 'description' | 'slug' | 'version' | 'author'> &
  Partial<Pick<WrittenManifest, 'readme' | 'license' | 'keywords'>>

/** A manifest, with warnings about members a manifest cannot have. */
export type Written = { manifest: SkillManifest; warnings: string[] }

/** Builds the skill manifest of a canvas (docs/api.md 9.1): prompts joined in order, tools, knowledge and trigger. */
export function toManifest({ input, nodes }: Pick<Plan, 'input' | 'nodes'>, about: About): Written {
  const tools = ofKind(nodes, 'tool').map(({ config: { arguments: _, ...tool } }) => tool)
  const knowledge = [...new Set(ofKind(nodes, 'knowledge').flatMap(({ config }) => config.fileKeys))]
  const knowledgeFiles = Object.fromEntries(
    ofKind(nodes, 'knowledge').flatMap(({ config }) => Object.entries(config.files ?? {})),
  )
  const [model] = ofKind(nodes, 'model')
  const trigger = triggerOf(input)
  const isCalling = tools.some(({ endpoint }) => endpoint)
  const isAutonomous = trigger.type === 'event' || trigger.type === 'schedule'
  const { members: stored, dropped } = pruneManifest({
    ...about,
    category: isAutonomous ? 'automation' : isCalling ? 'integration' : 'productivity',
    systemPromptExtension: ofKind(nodes, 'prompt')
      .map(({ config }) => config.content)
      .join(PROMPT_GAP),
    permissions: [
      ...(isCalling ? (['external:http'] as const) : []),
      ...(tools.length ? (['execute:tools'] as const) : []),
      ...(isAutonomous ? (['autonomous:run'] as const) : []),
    ],
    tools,
    knowledge,
    knowledgeFiles,
    trigger,
    ...(model ? { modelPreference: model.config.modelId } : {}),
  } satisfies WrittenManifest)
  return { manifest: withDefaults(stored as WrittenManifest), warnings: warningsOf(dropped) }
}

/** The skill trigger of an input node. `api` counts as manual, webhook and hook events as events (docs/api.md 9.1). */
function triggerOf({ config }: NodeOf<'input'>): SkillManifest['trigger'] {
  const { triggerType = 'manual', keywords, eventPattern, cron, timezone } = config
  switch (triggerType) {
    case 'manual':
    case 'api':
      return { type: 'manual' }
    case 'keyword':
      return { type: 'keyword', config: { keywords: keywords! } }
    case 'schedule':
      return { type: 'schedule', config: { cron: cron!, ...(timezone === undefined ? {} : { timezone }) } }
    default:
      return { type: 'event', config: { eventPattern: eventPattern! } }
  }
}

const ofKind = <K extends ReadNode['kind']>(nodes: readonly ReadNode[], kind: K): NodeOf<K>[] =>
  nodes.filter((node): node is NodeOf<K> => node.kind === kind)
