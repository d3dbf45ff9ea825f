import { findEngine } from '../../engines'
import { isEventPattern } from '../../events/schema'
import { charactersIn } from '../../kernel/characters'
import { messageOf } from '../../kernel/errors'
import { isTimeZone, problemOfCron } from '../../kernel/schedule'
import { MANIFEST_LIMITS } from '../../skills/schema'
import { ExpressionFault, type Path, parseExpression, pathsOf } from '../../text'
import { newAllowance, problemsOf, problemsOfResult } from '../../tools'
import { type Drawing, named } from './drawing'
import { leadingTo } from './links'
import type { NodeOf, ReadNode } from './nodes'
import type { CanvasProblem } from './schema'
import { isStep } from './step-names'

/** Problems in the content of well-formed nodes: of each node, between tools, and in total. */
export function contentProblems({ read, links }: Drawing): CanvasProblem[] {
  return [...read.flatMap((node) => alone(node, read, links)), ...toolProblems(read), ...totalProblems(read)]
}

const wrong = (node: ReadNode, fault: string, code: CanvasProblem['code'] = 'invalid_config'): CanvasProblem => ({
  code,
  message: `${named(node)}: ${fault}`,
  nodeId: node.id,
})

function alone(node: ReadNode, read: Drawing['read'], links: Drawing['links']): CanvasProblem[] {
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

/** The steps that run before this node. */
function stepsBefore(node: ReadNode, read: Drawing['read'], links: Drawing['links']): ReadNode[] {
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

/** Faults in the trigger's settings that skill review would refuse. Only the settings this trigger uses are checked. */
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

/** Whether a path refers to an earlier step, by its label: authors of canvases do not see step numbers. */
const leadsBack = ([root, step]: Path, before: readonly ReadNode[]): boolean =>
  root !== 'steps' || typeof step !== 'string' || before.some(({ label }) => label === step)

function toolProblems(read: Drawing['read']): CanvasProblem[] {
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
function totalProblems(read: Drawing['read']): CanvasProblem[] {
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
