import { formOfSchema } from '../completions'
import { findEngine } from '../engines'
import { isReserved } from '../events'
import { isEventPattern } from '../events/schema'
import { MODES } from '../kernel/caller'
import { AppError, atField, invalidInput, messageOf } from '../kernel/errors'
import { createOutbound, type Outbound } from '../kernel/outbound'
import { isTimeZone, nextRunOf, problemOfCron } from '../kernel/schedule'
import { checker, JsonObject, oneOf, type Static, type TSchema, t } from '../kernel/schema'
import { assertFits, validationError } from '../kernel/validation'
import { storedTool } from '../skills'
import { Manifest } from '../skills/schema'
import { ExpressionFault, parseExpression, placeholdersOf, textsIn } from '../text'
import { HEADER_NAME, HEADER_VALUE, newAllowance, problemsOf, problemsOfResult, readEndpoint } from '../tools'
import { wrongStep } from './errors'
import { NewWorkflow, type Step, type StepType, type TriggerType } from './workflows-schema'

const Text = t.String({ minLength: 1, maxLength: 100_000, pattern: '\\S' })
const Word = t.String({ minLength: 1, maxLength: 128 })
const Place = t.Integer({ minimum: 0 })
const Url = t.String({ minLength: 1, maxLength: 2_048 })
const Headers = t.Record(t.String({ pattern: HEADER_NAME }), t.String({ maxLength: 8_192, pattern: HEADER_VALUE }), {
  maxProperties: 32,
  additionalProperties: false,
})
const Moment = t.String({ format: 'date-time' })

const completion = {
  skills: t.Optional(t.Array(Word, { maxItems: 20 })),
  mode: t.Optional(oneOf(MODES)),
  model: t.Optional(Word),
  persona: t.Optional(
    t.Union([
      t.Object({ system_prompt: t.String({ minLength: 1, maxLength: 20_000 }) }),
      oneOf(['svc', 'none'] as const),
    ]),
  ),
  temperature: t.Optional(t.Number({ minimum: 0, maximum: 2 })),
}

/** The config of each kind of step, with its placeholders filled in (docs/api.md 10). */
const CONFIGS = {
  ai_transform: t.Object({
    prompt: Text,
    ...completion,
    output_schema: t.Optional(JsonObject),
    attachments: t.Optional(t.Array(JsonObject, { maxItems: 10 })),
  }),
  notification: t.Object({
    channel: oneOf(['email', 'webhook', 'in_app'] as const),
    to: t.String({ minLength: 1, maxLength: 2_048 }),
    subject: t.Optional(t.String({ maxLength: 500 })),
    body: t.Optional(t.String({ maxLength: 100_000 })),
  }),
  http: t.Object({
    url: Url,
    method: t.Optional(oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const)),
    headers: t.Optional(Headers),
    body: t.Optional(t.Unknown()),
    timeout_seconds: t.Optional(t.Number({ minimum: 1, maximum: 30 })),
  }),
  condition: t.Object({
    expression: t.String({ minLength: 1, maxLength: 2_000 }),
    onTrue: t.Optional(Place),
    onFalse: t.Optional(Place),
  }),
  delay: t.Object({
    seconds: t.Optional(t.Number({ minimum: 1, maximum: 86_400 })),
    until: t.Optional(Moment),
  }),
  approval: t.Object({
    message: Text,
    approvers: t.Optional(t.Array(t.String({ format: 'uuid' }), { minItems: 1, maxItems: 50 })),
    timeout_minutes: t.Optional(t.Number({ minimum: 1, maximum: 43_200 })),
    on_timeout: t.Optional(oneOf(['reject', 'approve'] as const)),
  }),
  skill: t.Object({ slug: Word, input: Text }),
  tool: t.Object({
    name: Word,
    arguments: t.Optional(JsonObject),
    /** Defines a tool that neither this server nor an installed skill has. */
    tool: t.Optional(t.Omit(Manifest.properties.tools.items, ['name'])),
  }),
  event: t.Object({ eventType: Word, payload: t.Optional(t.Unknown()) }),
  transform: t.Object({ template: t.Unknown() }),
  output: t.Object({
    format: t.Optional(oneOf(['text', 'json', 'markdown', 'file'] as const)),
    template: t.Optional(t.Unknown()),
  }),
} as const satisfies Record<StepType, TSchema>

export type ConfigOf<Type extends StepType> = Static<(typeof CONFIGS)[Type]>

export const CHECKS = new Map(Object.entries(CONFIGS).map(([type, schema]) => [type as StepType, checker(schema)]))

/** Members in which placeholders are not filled in. */
export const UNFILLED: Partial<Record<StepType, readonly string[]>> = {
  condition: ['expression', 'onTrue', 'onFalse'],
  ai_transform: ['output_schema'],
  tool: ['tool'],
}

type Config = Step['config']
type Reading = Pick<Outbound, 'readUrl'>

/** Whether filling in placeholders changes a value. */
const isTemplate = (value: unknown): boolean => textsIn(value).some((text) => text.includes('{{'))

/** The first problem of a workflow read from a file, as a sentence. Null when a server would accept it. */
export function reviewWorkflow(input: object): string | null {
  try {
    assertFits(NewWorkflow, input)
    const { name, triggerType, triggerConfig, steps } = input
    const missing = Object.entries({ name, triggerType, steps }).filter(([, value]) => value === undefined)
    if (missing.length || !steps?.length) return `Missing: ${missing.map(([member]) => member).join(', ') || 'steps'}.`
    assertSteps(steps, createOutbound())
    assertTrigger(triggerType!, triggerConfig ?? {})
    return null
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
}

/**
 * Validates steps as far as possible before they run (docs/api.md 10): configs, placeholders and expressions, jump
 * targets, addresses and engines. Throws 400 `validation_error`, or `url_blocked`, naming the step.
 */
export function assertSteps(steps: readonly Step[], outbound: Reading): void {
  for (const [at, step] of steps.entries()) {
    assertConfig(step, at)
    assertPlaces(step, at, steps.length)
    assertPlaceholders(step, at)
    assertContent(step, at, outbound)
  }
}

/** A step as stored. Drops tool members that a step may not have, such as `command` and `env`. */
export function storedStep(step: Step): Step {
  if (step.type !== 'tool') return step
  const { name, arguments: args, tool } = step.config as ConfigOf<'tool'>
  const config = { name, ...(args && { arguments: args }), ...(tool && { tool: storedTool(tool) }) }
  return { ...step, config }
}

/** Members with placeholders are checked after the placeholders are filled in. */
function assertConfig({ type, config }: Step, at: number): void {
  const path = ['steps', String(at), 'config']
  const issues = CHECKS.get(type)!
    .issues(config)
    .map((issue) => ({ ...issue, path: issue.path.split('.') }))
    .filter((issue) => !isTemplate(config[issue.path[0]!]))
  if (!issues.length) return
  const found = issues.map((issue) => ({ ...issue, path: [...path, ...issue.path.filter(Boolean)] }))
  throw validationError(found, { steps: Array.from({ length: at + 1 }, () => ({ config })) })
}

function assertPlaces({ onSuccess, onFailure, config }: Step, at: number, count: number): void {
  const { onTrue, onFalse } = config
  const named = {
    '.onSuccess': onSuccess,
    '.onFailure': onFailure,
    '.config.onTrue': onTrue,
    '.config.onFalse': onFalse,
  }
  for (const [member, place] of Object.entries(named)) {
    if (typeof place !== 'number' || place < count) continue
    throw wrongStep(at, member, `"steps[${at}]${member}" is ${place}; the last step is ${count - 1}.`)
  }
}

function assertPlaceholders({ type, config }: Step, at: number): void {
  for (const [member, value] of Object.entries(config)) {
    if (UNFILLED[type]?.includes(member)) continue
    try {
      for (const text of textsIn(value)) placeholdersOf(text)
    } catch (error) {
      throw faultAt(at, member, error)
    }
  }
}

function faultAt(at: number, member: string, error: unknown): unknown {
  if (!(error instanceof ExpressionFault)) return error
  const path = `steps[${at}].config.${member}`
  return invalidInput(path, `"${path}" cannot be read: ${error.message}.`)
}

function assertContent(step: Step, at: number, outbound: Reading): void {
  const { type, config } = step
  const fixed = (member: string) => (isTemplate(config[member]) ? undefined : (config[member] as string | undefined))
  const refuse = (member: string, message: string) => wrongStep(at, `.config.${member}`, message)
  switch (type) {
    case 'condition':
      try {
        parseExpression((config as ConfigOf<'condition'>).expression)
      } catch (error) {
        throw faultAt(at, 'expression', error)
      }
      return
    case 'http':
      assertUrl(fixed('url'), `steps[${at}].config.url`, outbound)
      return
    case 'ai_transform':
      assertCompletion(config, at, fixed('model'))
      return
    case 'delay':
      if ((config.seconds === undefined) === (config.until === undefined))
        throw refuse('seconds', 'A delay needs one of "seconds" and "until".')
      return
    case 'tool':
      assertOwnTool(config as ConfigOf<'tool'>, `steps[${at}].config.tool`, outbound)
      return
    case 'notification':
      assertRecipient(fixed('channel'), fixed('to'), { at, outbound })
      return
    case 'event': {
      const eventType = fixed('eventType')
      if (eventType !== undefined && !isEventType(eventType))
        throw refuse(
          'eventType',
          `"eventType" is ${messageOf(eventType)}; it must be words joined by dots, such as order.paid.`,
        )
      if (eventType !== undefined && isReserved(eventType))
        throw refuse('eventType', `"${eventType}" is the name of a server event. Use another one.`)
      return
    }
  }
}

/** Checks the tool that a step defines: its endpoint and its input and output schemas. */
function assertOwnTool({ tool }: ConfigOf<'tool'>, path: string, outbound: Reading): void {
  if (!tool) return
  if (tool.endpoint) readEndpoint(tool.endpoint, `${path}.endpoint`, outbound)
  const allowance = newAllowance()
  const [problem] = [
    ...(tool.inputSchema ? problemsOf(tool.inputSchema, `${path}.inputSchema`, allowance) : []),
    ...(tool.outputSchema ? problemsOfResult(tool.outputSchema, `${path}.outputSchema`, allowance) : []),
  ]
  if (problem) throw invalidInput(problem.path, `"${problem.path}" ${problem.message}.`)
}

function assertCompletion({ output_schema: schema }: Config, at: number, model: string | undefined): void {
  if (schema !== undefined) formOfSchema(schema as Record<string, unknown>, `steps[${at}].config.output_schema`)
  if (model === undefined || findEngine(model)) return
  const path = `steps[${at}].config.model`
  throw invalidInput(path, `"${path}" is ${messageOf(model)}, which is not an engine. GET /models lists them.`)
}

function assertUrl(url: string | undefined, path: string, outbound: Reading): void {
  try {
    if (url !== undefined) outbound.readUrl(url)
  } catch (error) {
    throw error instanceof AppError ? atField(error, path) : error
  }
}

const ADDRESS = /^[^\s@<>(),;:"[\]\\]{1,64}@[^\s@<>(),;:"[\]\\]{1,255}$/
const MAX_RECIPIENTS = 10

/** The comma-separated addresses in `to`. Null when it contains other text, or none or too many addresses. */
export function recipientsOf(to: string): string[] | null {
  const found = to.split(',').map((one) => one.trim())
  return found.length <= MAX_RECIPIENTS && found.every((one) => ADDRESS.test(one)) ? found : null
}

type Where = { at: number; outbound: Reading }

function assertRecipient(channel: string | undefined, to: string | undefined, { at, outbound }: Where): void {
  const path = `steps[${at}].config.to`
  if (channel === 'webhook') assertUrl(to, path, outbound)
  if (channel !== 'email' || to === undefined || recipientsOf(to)) return
  throw invalidInput(
    path,
    `"${path}" is ${messageOf(to)}; it must be up to ${MAX_RECIPIENTS} e-mail addresses, separated by commas.`,
  )
}

const EVENT_TYPE = /^[a-z0-9_]+(\.[a-z0-9_]+)*$/

/** Whether a word may name an event (docs/api.md 11.2). */
export const isEventType = (word: string): boolean => word.length <= 128 && EVENT_TYPE.test(word)

/** Checks a trigger (docs/api.md 10). Throws 400 `validation_error`. */
export function assertTrigger(type: TriggerType, config: Config): void {
  if (type === 'schedule') assertSchedule(config)
  if (type === 'event') assertEventTrigger(config)
}

function assertSchedule({ cron, timezone }: Config): void {
  const path = 'triggerConfig.cron'
  if (typeof cron !== 'string')
    throw invalidInput(path, '"triggerConfig.cron" is missing: a schedule such as "0 9 * * 1-5".')
  const problem = problemOfCron(cron)
  if (problem) throw invalidInput(path, `"${path}" ${messageOf(cron)} ${problem}.`)
  if (timezone === undefined || (typeof timezone === 'string' && isTimeZone(timezone))) return
  throw invalidInput(
    'triggerConfig.timezone',
    `"triggerConfig.timezone" is ${messageOf(timezone)}; it must be a time zone such as Europe/Vienna.`,
  )
}

function assertEventTrigger({ eventPattern, filter }: Config): void {
  const path = 'triggerConfig.eventPattern'
  if (typeof eventPattern !== 'string' || !isEventPattern(eventPattern)) {
    const found = eventPattern === undefined ? 'missing' : messageOf(eventPattern)
    throw invalidInput(
      path,
      `"${path}" is ${found}; it must be words joined by dots, with * for any word, such as order.*.paid.`,
    )
  }
  if (filter === undefined) return
  if (typeof filter !== 'string')
    throw invalidInput('triggerConfig.filter', '"triggerConfig.filter" must be an expression.')
  try {
    parseExpression(filter)
  } catch (error) {
    if (!(error instanceof ExpressionFault)) throw error
    throw invalidInput('triggerConfig.filter', `"triggerConfig.filter" cannot be read: ${error.message}.`)
  }
}

/** The next time of a schedule after the given time. Null for other triggers. */
export function nextOf(
  type: TriggerType,
  config: Config,
  { zone, after }: { zone: string; after: number },
): number | null {
  if (type !== 'schedule') return null
  return nextRunOf(config.cron as string, (config.timezone as string | undefined) ?? zone, after)
}
