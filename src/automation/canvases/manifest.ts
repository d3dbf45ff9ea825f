import { type SkillManifest, storedMembers, warningsOf, withDefaults } from '../../skills'
import type { WrittenManifest } from '../../skills/schema'
import { PROMPT_GAP } from './content'
import type { NodeOf, ReadNode } from './nodes'
import type { Plan } from './step-config'

/** Manifest members that are not part of the graph: the name, and what the author gives on publishing. */
export type About = Pick<WrittenManifest, 'name' | 'description' | 'slug' | 'version' | 'author'> &
  Partial<Pick<WrittenManifest, 'readme' | 'license' | 'keywords'>>

/** A manifest, and warnings that name what a manifest cannot have. */
export type Written = { manifest: SkillManifest; warnings: string[] }

/** Builds the skill manifest of a canvas (contract 9.1): prompts joined in order, tools, knowledge and trigger. */
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
  const { kept: stored, dropped } = storedMembers({
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

/** The skill trigger of an input node: `api` counts as manual, webhook and hook events as events (contract 9.1). */
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
