import type { SettingsService } from '../accounts'
import { type Mail, MailFailure } from '../cluster'
import {
  assertInput,
  type CompletionRequest,
  type CompletionService,
  formOfSchema,
  requestFromInput,
} from '../completions'
import type { CompletionInput } from '../completions/schema'
import { type FanOut, isReserved } from '../events'
import { EventId } from '../events/schema'
import type { Call } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import { parsedJson, parseUntrustedJson } from '../kernel/json'
import { microToCents } from '../kernel/money'
import { type Outbound, OutboundFailure } from '../kernel/outbound'
import type { Store, Tx } from '../kernel/store'
import { storable } from '../kernel/text'
import { signatureHeaders } from '../kernel/webhook-signature'
import type { SkillService } from '../skills'
import { evaluate, isTrue, parseExpression, written } from '../text'
import type { Tools } from '../tools'
import { NOTIFICATION } from './events'
import type { Pause, RunRow } from './table'
import { type ConfigOf, isEventType, recipientsOf } from './workflows-review'
import type { StepType } from './workflows-schema'

/** The input of a step: its filled-in config, and the results of earlier steps. */
export type StepInput<Type extends StepType> = {
  config: ConfigOf<Type>
  /** Index of the step. */
  at: number
  run: RunRow
  call: Call
  /** The text of the previous step. */
  previous: string
  /** The values that expressions read. */
  values: Readonly<Record<string, unknown>>
  /** Equal for each attempt of a step, so that receivers that know the key do the work once (docs/promises.md I38). */
  key: string
  /** Stores the result of the step in a transaction of the step, so that both commit together. */
  keep(tx: Tx, done: StepOutput): Promise<void>
}

/** The result of a successful step. */
export type StepOutput = {
  output: unknown
  /** Micro-cents. */
  cost?: number
  /** Index of the next step, if the step decides it. */
  next?: number | undefined
  /** The error of a step that failed after it was paid for. Null when it succeeded. */
  error?: string | null
  /** Runs in the transaction that stores the result. */
  effects?(tx: Tx): Promise<unknown>
}

/** The result of a step that waits for a person or a time. */
export class Paused {
  constructor(readonly pause: Pause) {}
}

/** Marks that `keep` has stored the step. */
export const STORED = Symbol('kept')

/** A step that failed. The message is for the owner of the workflow. */
export class StepFailure extends Error {
  override name = 'StepFailure'
}

export type StepRunner<Type extends StepType> = (doing: StepInput<Type>) => Promise<StepOutput | Paused | typeof STORED>

export type StepDeps = {
  store: Store
  clock: Clock
  settings: Pick<SettingsService, 'read'>
  completions: Pick<CompletionService, 'pipeline'>
  skills: Pick<SkillService, 'aloneBySlug' | 'toolsOf'>
  tools: Pick<Tools, 'assemble' | 'run' | 'ofSkill'>
  mail: Mail
  outbound: Outbound
  fanOut: Pick<FanOut, 'publish'>
  /** The secret that signs webhook notifications. */
  secretOf(call: Call): string
}

/** The steps that ask an engine. They are billed as completions, and stored in the transaction that charges them. */
function createAiSteps({ store, settings, completions, skills }: StepDeps) {
  const aiTransform: StepRunner<'ai_transform'> = async (doing) => {
    const { prompt, output_schema: schema, model, attachments, ...rest } = doing.config
    const input = {
      ...rest,
      prompt,
      mode: rest.mode ?? 'auto',
      ...(attachments ? { attachments } : {}),
    } as CompletionInput
    const form = schema ? formOfSchema(schema, `steps[${doing.at}].config.output_schema`) : null
    const request = await requestOf(doing.call, input)
    return completeStep(doing, { ...request, ...(model ? { engine: model } : {}), ...form }, form !== null)
  }

  const skill: StepRunner<'skill'> = async (doing) => {
    const { slug, input } = doing.config
    const active = await skills.aloneBySlug(doing.call, slug, input)
    if (!active) throw new StepFailure(`There is no skill "${slug}" that this workflow can use.`)
    const request = await requestOf(doing.call, { prompt: input, mode: 'auto' })
    return completeStep(doing, { ...request, active }, false)
  }

  return { ai_transform: aiTransform, skill }

  async function requestOf({ caller }: Call, input: CompletionInput): Promise<CompletionRequest> {
    assertInput(input)
    const own = await settings.read(store.read, caller.userId)
    return { ...requestFromInput({ ...input, conversation_id: null }, own, false), cache: 'off', wantsFollowUps: false }
  }

  async function completeStep(
    { call, run, keep }: StepInput<'ai_transform' | 'skill'>,
    request: CompletionRequest,
    isJson: boolean,
  ): Promise<typeof STORED> {
    let ended: unknown
    const completion = completions.pipeline.complete(call, {
      ...request,
      metadata: { workflow_id: run.workflow_id, workflow_run_id: run.id },
      alongside: (tx, { costMicro }, { content, artifacts, refusal, promptTokens, completionTokens }, broken) => {
        // This worker is stopping. Nothing is charged, and another worker restarts the step.
        if (broken !== undefined && call.signal.aborted) throw broken
        ended = broken
        const usage = {
          cost_cents: microToCents(costMicro),
          prompt_tokens: promptTokens,
          completion_tokens: completionTokens,
          total_tokens: promptTokens + completionTokens,
        }
        const structured = isJson ? { structured: parsedJson(content) ?? null } : {}
        const error =
          broken === undefined ? refusal : broken instanceof AppError ? broken.message : 'the answer was interrupted'
        return keep(tx, { output: { text: content, ...structured, artifacts, usage }, cost: costMicro, error })
      },
    })
    await completion.catch((error: unknown) => {
      // The failed step is already stored with its cost.
      if (ended === undefined || error !== ended) throw error
    })
    return STORED
  }
}

/** Steps that decide, wait and transform data, without external effects. */
function createFlowSteps(clock: Clock) {
  const condition: StepRunner<'condition'> = async ({ config, values }) => {
    const result = isTrue(evaluate(parseExpression(config.expression), values))
    return { output: { result }, next: result ? config.onTrue : config.onFalse }
  }

  const delay: StepRunner<'delay'> = async ({ config: { seconds, until } }) => {
    const end = until === undefined ? clock.now() + seconds! * 1_000 : Date.parse(until)
    if (end <= clock.now()) return { output: {} }
    if (end - clock.now() > LONGEST_MS) throw new StepFailure('A delay can be at most 30 days.')
    return new Paused({ kind: 'delay', until: end })
  }

  const approval: StepRunner<'approval'> = async ({ config }) => {
    const { message, approvers, timeout_minutes = 1_440, on_timeout = 'reject' } = config
    return new Paused({
      kind: 'approval',
      until: clock.now() + timeout_minutes * 60_000,
      onTimeout: on_timeout,
      message,
      ...(approvers ? { approvers } : {}),
    })
  }

  const transform: StepRunner<'transform'> = async ({ config }) => ({ output: config.template ?? null })

  const output: StepRunner<'output'> = async ({ config: { format = 'text', template }, previous, values }) => {
    const value = template === undefined ? (values.previous as { output: unknown }).output : template
    if (format === 'json') return { output: typeof value === 'string' ? parsed(value) : value }
    return { output: template === undefined ? previous : written(value) }
  }

  return { condition, delay, approval, transform, output }
}

const LONGEST_MS = 30 * 86_400_000

/** The value of a JSON text, or the text itself. */
function parsed(text: string): unknown {
  try {
    return parseUntrustedJson(Buffer.from(text), { large: 'text' })
  } catch {
    return text
  }
}

const TIMEOUT_S = 30
const MAX_ANSWER_BYTES = 256 * 1024

/**
 * Calls an address through the guarded outbound client (docs/api.md 10). Every HTTP status is a result. Only a call
 * without response fails.
 */
const createHttpStep =
  (outbound: Outbound): StepRunner<'http'> =>
  async ({ config, call, key }) => {
    const {
      url,
      method = config.body === undefined ? 'GET' : 'POST',
      headers = {},
      body,
      timeout_seconds = TIMEOUT_S,
    } = config
    const isText = typeof body === 'string'
    const sent = body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }
    const type: Record<string, string> = body === undefined || isText ? {} : { 'content-type': 'application/json' }
    try {
      const answer = await outbound.fetchPublic(url, {
        method,
        headers: {
          'user-agent': 'svc-workflows/1',
          'idempotency-key': key,
          ...type,
          ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
        },
        ...sent,
        maxBytes: MAX_ANSWER_BYTES,
        timeoutMs: timeout_seconds * 1_000,
        signal: call.signal,
      })
      return { output: { status: answer.status, headers: answer.headers, body: bodyOf(answer) } }
    } catch (error) {
      if (error instanceof OutboundFailure && error.kind !== 'aborted')
        throw new StepFailure(`The call failed: ${error.message}.`)
      throw error
    }
  }

/** Removes characters from a response that the database cannot store. */
function bodyOf({ headers, body }: { headers: Record<string, string>; body: Uint8Array }): unknown {
  const text = storable(new TextDecoder().decode(body))
  if (!/\bjson\b/i.test(headers['content-type'] ?? '')) return text
  try {
    return parseUntrustedJson(body, { large: 'text' })
  } catch {
    return text
  }
}

const TIMEOUT_MS = 10_000
const MAX_REPLY_BYTES = 64 * 1024

/** Sends a notification by e-mail, by a signed POST, or as an event for in-app display (docs/api.md 10). */
function createNotificationStep({ mail, outbound, clock, fanOut, secretOf }: StepDeps): StepRunner<'notification'> {
  return (doing) => {
    if (doing.config.channel === 'email') return byMail(doing)
    return doing.config.channel === 'webhook' ? byWebhook(doing) : inApp(doing)
  }

  async function byMail({ config, previous, key, call }: StepInput<'notification'>) {
    const to = recipientsOf(config.to)
    if (!to) throw new StepFailure('"to" is not a list of e-mail addresses.')
    try {
      const text = config.body ?? previous
      await mail.send({ to, subject: config.subject ?? 'Notification', text, key, signal: call.signal })
    } catch (error) {
      throw error instanceof MailFailure ? new StepFailure(error.message) : error
    }
    return { output: { delivered: true } }
  }

  async function byWebhook({ config, previous, run, key, call }: StepInput<'notification'>) {
    const { subject = null, body = previous } = config
    const text = JSON.stringify({ subject, body, workflow_id: run.workflow_id, run_id: run.id })
    const signature = signatureHeaders({
      id: EventId.create(),
      timestampS: Math.floor(clock.now() / 1_000),
      body: text,
      secret: secretOf(call),
    })
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'svc-workflows/1',
      'idempotency-key': key,
      ...signature,
    }
    const limits = { maxBytes: MAX_REPLY_BYTES, timeoutMs: TIMEOUT_MS, signal: call.signal }
    try {
      const { status } = await outbound.fetchPublic(config.to, { method: 'POST', headers, body: text, ...limits })
      if (status < 200 || status > 299) throw new StepFailure(`The address answered with status ${status}.`)
    } catch (error) {
      if (error instanceof OutboundFailure && error.kind !== 'aborted')
        throw new StepFailure(`The call failed: ${error.message}.`)
      throw error
    }
    return { output: { delivered: true } }
  }

  /** Stored even without subscribers, because clients read it with `GET /events`. */
  async function inApp({ config, previous, run }: StepInput<'notification'>) {
    const { to, subject = null, body = previous } = config
    const value = { to, subject, body, workflow_id: run.workflow_id, run_id: run.id }
    const about = { id: EventId.create(), type: NOTIFICATION, scope: run.owner, created: clock.now() }
    const event = { ...about, data: { value }, depth: run.depth + 1 }
    return { output: { delivered: true }, effects: (tx: Tx) => fanOut.publish(tx, event, 'workflow') }
  }
}

/**
 * Runs one tool: one of this server, of an installed skill, or one that the step defines (docs/api.md 10). Naming a
 * tool in a step approves it, so no tool waits for approval.
 */
const createToolStep =
  ({ clock, tools, skills }: StepDeps): StepRunner<'tool'> =>
  async ({ config, call, key, run }) => {
    const { name, arguments: args = {}, tool } = config
    const toolset = tools.assemble({
      inline: [],
      skills: tool ? tools.ofSkill(run.workflow_id, [{ ...tool, name }]) : await skills.toolsOf(call),
      system: true,
      approved: [name],
      call,
    })
    const request = { id: key, name, arguments: JSON.stringify(args) }
    const context = { call, signal: call.signal, now: clock.now(), conversationId: null }
    const outcome = await tools.run(toolset, request, context)
    if (outcome.status === 'error') throw new StepFailure(outcome.text.replace(/^Error: /, ''))
    return { output: outcome.result }
  }

const MAX_KB = 64

/** Emits an event for the workflow's owner in the transaction of the step's result, so that it is emitted once. */
const createEventStep =
  ({ fanOut, clock }: StepDeps): StepRunner<'event'> =>
  async ({ config, run }) => {
    const { eventType: type, payload = null } = config
    if (!isEventType(type))
      throw new StepFailure(
        `"${type.slice(0, 128)}" is not an event name. Use words joined by dots, such as order.paid.`,
      )
    if (isReserved(type)) throw new StepFailure(`"${type}" is the name of a server event.`)
    if (Buffer.byteLength(JSON.stringify(payload)) > MAX_KB * 1024)
      throw new StepFailure(`An event can have at most ${MAX_KB} KB.`)
    const id = EventId.create()
    const event = { id, type, scope: run.owner, created: clock.now(), data: { value: payload }, depth: run.depth + 1 }
    return { output: { eventId: id }, effects: (tx) => fanOut.publish(tx, event, 'workflow') }
  }

/** The function that runs each kind of step (docs/api.md 10). */
export const createSteps = (deps: StepDeps): { [Type in StepType]: StepRunner<Type> } => ({
  ...createFlowSteps(deps.clock),
  ...createAiSteps(deps),
  http: createHttpStep(deps.outbound),
  notification: createNotificationStep(deps),
  tool: createToolStep(deps),
  event: createEventStep(deps),
})
