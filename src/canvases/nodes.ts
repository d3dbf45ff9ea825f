import { checker, JsonObject, oneOf, type Static, t } from '../kernel/schema'
import { validationError } from '../kernel/validation'
import { MANIFEST_LIMITS, Manifest, Words } from '../skills/schema'
import type { CanvasNode } from './schema'

/** What starts a canvas; the last three are other words for a hand or an event (contract 9.1). */
export const TRIGGERS = ['manual', 'keyword', 'event', 'schedule', 'api', 'webhook_event', 'hook_event'] as const
export type CanvasTrigger = (typeof TRIGGERS)[number]

const Cron = t.String({ pattern: '^[0-9A-Za-z*,/?#-]+( [0-9A-Za-z*,/?#-]+){4}$', maxLength: 128 })
const Instruction = t.String({ minLength: 1, maxLength: MANIFEST_LIMITS.promptChars, pattern: '\\S' })
const FileKeys = t.Array(Manifest.properties.knowledge.items, {
  minItems: 1,
  maxItems: MANIFEST_LIMITS.knowledgeFiles,
})

/** The config of each kind of node. A tool is one of a manifest's, and its arguments where it is a step. */
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
    url: t.Optional(t.String({ pattern: '^https?://[^\\s<>"]+$', maxLength: 2_048 })),
    step: t.Optional(t.String({ minLength: 1, maxLength: 128 })),
    instructions: Instruction,
  }),
  condition: t.Object({ expression: t.String({ minLength: 1, maxLength: 2_000 }) }),
  output: t.Object({ format: t.Optional(oneOf(['text', 'json', 'markdown', 'file'] as const)) }),
} as const

export type Kind = keyof typeof CONFIGS
export const KINDS = Object.keys(CONFIGS) as Kind[]

/** What every node has, whether or not its config is sound. */
export type Drawn = { id: string; kind: Kind | null; label: string }
/** A node that has been read. */
export type ReadNode = {
  [K in Kind]: { id: string; kind: K; label: string; config: Static<(typeof CONFIGS)[K]> }
}[Kind]
export type NodeOf<K extends Kind> = Extract<ReadNode, { kind: K }>

/** A map and not an object: a type is a stranger's word, and `constructor` is none of ours. */
const CHECKS = new Map<string, ReturnType<typeof checker>>(
  Object.entries(CONFIGS).map(([kind, schema]) => [kind, checker(schema)]),
)

export const isKind = (type: string): type is Kind => CHECKS.has(type)

/** The kind both words for it agree on; null when they do not, or nobody knows it. */
export function kindOf({ type, data }: CanvasNode): Kind | null {
  return isKind(type) && (data?.type === undefined || data.type === type) ? type : null
}

export const drawn = (node: CanvasNode): Drawn => ({
  id: node.id,
  kind: kindOf(node),
  label: node.data?.label?.trim() || node.id,
})

/** The node with its config, or what is wrong with that, in sentences. */
export function readNode(node: CanvasNode, kind: Kind): ReadNode | string[] {
  const config = node.data?.config ?? {}
  const check = CHECKS.get(kind)!
  if (check.is(config)) return { ...drawn(node), kind, config } as ReadNode
  const findings = check.issues(config).map((issue) => ({ ...issue, path: issue.path.split('.') }))
  return (validationError(findings, config).details ?? []).map(({ message }) => message)
}
