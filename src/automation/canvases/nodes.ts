import { form } from '../../kernel/form'
import { checker, JsonObject, oneOf, type Static, t } from '../../kernel/schema'
import { validationError } from '../../kernel/validation'
import { MANIFEST_LIMITS, Manifest, Words } from '../../skills/schema'
import type { CanvasNode } from './schema'

/** Triggers of a canvas; the last three are aliases of a manual or event trigger (contract 9.1). */
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
export const KINDS = Object.keys(CONFIGS) as Kind[]

/** A node's basic members, known even when its config is invalid. */
export type Drawn = { id: string; kind: Kind | null; label: string }
/** A node with a valid config. */
export type ReadNode = {
  [K in Kind]: { id: string; kind: K; label: string; config: Static<(typeof CONFIGS)[K]> }
}[Kind]
export type NodeOf<K extends Kind> = Extract<ReadNode, { kind: K }>

/** A Map, because node types are user input and an object would find inherited names such as `constructor`. */
const CHECKS = new Map<string, ReturnType<typeof checker>>(
  Object.entries(CONFIGS).map(([kind, schema]) => [kind, checker(schema)]),
)

const isKind = (type: string): type is Kind => CHECKS.has(type)

/** The node's kind; null when it is unknown, or when `type` and `data.type` differ. */
export function kindOf({ type, data }: CanvasNode): Kind | null {
  return isKind(type) && (data?.type === undefined || data.type === type) ? type : null
}

export const drawn = (node: CanvasNode): Drawn => ({
  id: node.id,
  kind: kindOf(node),
  label: node.data?.label?.trim() || node.id,
})

/** The node with its parsed config, or sentences saying what is wrong with the config. */
export function readNode(node: CanvasNode, kind: Kind): ReadNode | string[] {
  const config = node.data?.config ?? {}
  const check = CHECKS.get(kind)!
  if (check.is(config)) return { ...drawn(node), kind, config } as ReadNode
  const findings = check.issues(config).map((issue) => ({ ...issue, path: issue.path.split('.') }))
  return (validationError(findings, config).details ?? []).map(({ message }) => message)
}
