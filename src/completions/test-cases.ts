import { type ActingIdentity, actingIdentityOf } from '../accounts'
import { type PublicJobs, type PublicKind, pollUrlOf } from '../charging'
import type { EngineService } from '../engines'
import { GiveUp, type Running } from '../jobs'
import type { Call, Caller, TenantCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { AppError, defineError, invalidInput, notFound } from '../kernel/errors'
import { newRequestId } from '../kernel/ids'
import { centsToMicro, microToCents } from '../kernel/money'
import { checker } from '../kernel/schema'
import { createResource, type Resource, type ResourceDeps } from '../resource'
import { compilePattern } from '../text'
import type { UsageReading } from '../usage'
import { requestFromChat } from './chat-from-wire'
import { formOfSchema } from './chat-parameters'
import type { CompletionService } from './pipeline'
import { testCase } from './resource'
import type { CompletionRequest } from './run'
import { type ChatCompletion, ChatInput, type Completion, CompletionInput } from './schema'
import type { Check, ReplayInput, TestCase, TestRun, TestRunAccepted, TestRunInput } from './test-cases-schema'

const [isChat, isCompletion] = [checker(ChatInput), checker(CompletionInput)]
const MAX_BYTES = 256 * 1024
const PAGE = 100
const MAX_CASES = 500
const MINUTE_MS = 60_000

type Deps = {
  resources: ResourceDeps
  engines: Pick<EngineService, 'named'>
  completions: Pick<CompletionService, 'pipeline' | 'requestOf'>
  publicJobs: PublicJobs
  /** True if chat parameters take effect for this caller (docs/api.md 33.1). `atBase`: by default they do. */
  honours(caller: Caller, atBase: boolean): boolean
  clock: Clock
  max: number
  /** The caller as whom stored work runs. Null when that caller has lost access. */
  unattended(behalf: ActingIdentity): Promise<TenantCaller | null>
}

export type TestCases = ReturnType<typeof createTestCases>

type TestRunPayload = ActingIdentity & {
  cases: Pick<TestCase, 'id' | 'request' | 'checks'>[]
  models: string[]
  budget: number
  route: string
}

/** Stored prompts with the checks that their answers must pass, run on several engines. */
export function createTestCases({
  resources,
  engines,
  completions,
  publicJobs,
  honours,
  clock,
  max,
  unattended,
}: Deps) {
  const resource = createResource(resources, testCase, {
    max,
    async read({ name, tags, request, checks }) {
      for (const [at, check] of (checks ?? []).entries()) assertCheck(check, `checks[${at}]`)
      if (request === undefined) return { name, tags, checks }
      const bytes = Buffer.byteLength(JSON.stringify(request))
      if (bytes > MAX_BYTES)
        throw invalidInput('request', `"request" has ${bytes} bytes; at most ${MAX_BYTES} are kept.`)
      const [problem] = ('messages' in request ? isChat : isCompletion).issues(request)
      if (problem) throw invalidInput('request', `"request${problem.path}" ${problem.message}.`)
      return { name, tags, checks, request, bytes }
    },
  })
  const kind: PublicKind<TestRunPayload> = {
    name: 'completions.tests',
    shown: 'tests',
    retry: { attempts: 2, delayMs: () => 2_000 },
    timeLimitMs: 60 * MINUTE_MS,
    concurrency: 4,
    concurrencyPerKey: 1,
    remembers: true,
    run: runAll,
  }
  publicJobs.define(kind)
  return { resource, run }

  /** `POST /test-cases/run`. Throws 400 for an unknown engine, 404 if no case matches, 503. */
  async function run(call: Call, { ids, tag, models, ...bounds }: TestRunInput): Promise<TestRunAccepted> {
    const cases = (
      ids ? await Promise.all(ids.map((id) => resource.get(call, id))) : await allOf(resource, call)
    ).filter(({ tags }) => tag === undefined || tags.includes(tag))
    if (!cases.length) throw notFound('test case')
    const input: TestRunPayload = {
      ...actingIdentityOf(call.caller),
      cases: cases.map(({ id, request, checks }) => ({ id, request, checks })),
      models: models.map((model) => engines.named(model) ?? model),
      budget: centsToMicro(bounds.most_cents),
      route: call.route,
    }
    return publicJobs.accept(call, kind, {
      input,
      hold: 0,
      answer: (id) => ({ job_id: id, status: 'queued' as const, cases: cases.length, poll_url: pollUrlOf(id) }),
    })
  }

  /** Each answer is billed as a completion, and stored, so that a retry repeats none. */
  async function runAll(job: Running<TestRunPayload>) {
    const { cases, models, budget, route } = job.payload
    const runs = ((await job.recall('runs')) ?? []) as TestRun[]
    const all = cases.flatMap((one) => models.map((model) => ({ one, model })))
    let spent = runs.reduce((sum, { cost_cents }) => sum + centsToMicro(cost_cents), 0)
    for (const { one, model } of all.slice(runs.length)) {
      if (spent >= budget && budget > 0) break
      const caller = await unattended(job.payload)
      if (!caller) throw new GiveUp('The key or session that started this run is no longer valid.')
      const call: Call = { caller, requestId: newRequestId(), route, signal: job.signal }
      const made = await answer(call, one, model)
      spent += centsToMicro(made.cost_cents)
      runs.push(made)
      await job.keep('runs', runs)
      job.progress(Math.floor((99 * runs.length) / all.length), `${runs.length} of ${all.length}`)
    }
    const passed = runs.filter((made) => made.passed).length
    return { text: `${passed} of ${runs.length} passed`, data: { runs, left_out: all.length - runs.length }, cost: 0 }
  }

  async function answer(
    call: Call,
    { id, request, checks }: TestRunPayload['cases'][number],
    model: string,
  ): Promise<TestRun> {
    const about = { case_id: id, model, request_id: call.requestId }
    const from = clock.monotonic()
    const past = () => Math.round(clock.monotonic() - from)
    try {
      const order = await orderOf(call, request)
      const reply = await completions.pipeline.complete(call, {
        ...order,
        engine: model,
        conversation: 'none',
        cache: 'off',
      })
      const ms = past()
      const { content, mode, cost_cents } = factsOf(reply)
      const failed = checks.filter((check) => !holds(check, { content, mode, ms, cost_cents })).map(nameOf)
      return { ...about, passed: !failed.length, failed_checks: failed, ms, cost_cents }
    } catch (error) {
      if (!(error instanceof AppError) || call.signal.aborted) throw error
      return { ...about, passed: false, failed_checks: [error.code], ms: past(), cost_cents: 0 }
    }
  }

  async function orderOf(call: Call, request: TestCase['request']): Promise<CompletionRequest> {
    if ('messages' in request)
      return requestFromChat(request as ChatInput, honours(call.caller, true), true) as CompletionRequest
    return (await completions.requestOf(call, request as CompletionInput, true)) as CompletionRequest
  }
}

async function allOf(resource: Resource<typeof testCase>, call: Call): Promise<TestCase[]> {
  const all: TestCase[] = []
  for (let cursor: string | undefined; all.length < MAX_CASES; ) {
    const page = await resource.list(call, { limit: PAGE, ...(cursor ? { cursor } : {}) })
    all.push(...(page.items as TestCase[]))
    if (page.next === null) break
    cursor = page.next
  }
  return all
}

type Answered = { content: string; mode: string | null; ms: number; cost_cents: number }

function factsOf(answer: object): Omit<Answered, 'ms'> {
  if ('choices' in answer) {
    const { choices, svc_metadata: about } = answer as ChatCompletion
    const content = choices[0]?.message.content ?? ''
    return { content, mode: about?.resolved_mode ?? null, cost_cents: about?.cost_cents ?? 0 }
  }
  const { content, resolved_mode, usage } = answer as Completion
  return { content, mode: resolved_mode, cost_cents: usage.cost_cents }
}

const nameOf = ({ type, value }: Check): string =>
  type === 'json_schema' ? type : `${type} ${String(value).slice(0, 100)}`

function holds({ type, value }: Check, { content, mode, ms, cost_cents }: Answered): boolean {
  switch (type) {
    case 'contains':
      return content.includes(String(value))
    case 'not_contains':
      return !content.includes(String(value))
    case 'matches':
      return compilePattern(String(value)).test(content)
    case 'json_schema':
      return formOfSchema(value as Record<string, unknown>, 'checks').checkJson!(content) === null
    case 'mode':
      return mode === value
    case 'max_ms':
      return ms <= Number(value)
    case 'max_cost_cents':
      return cost_cents <= Number(value)
  }
}

/** Throws 400 for a value of the wrong type, for a pattern that is not linear, and for an invalid schema. */
function assertCheck({ type, value }: Check, path: string): void {
  const wanted = type === 'json_schema' ? 'object' : type.startsWith('max_') ? 'number' : 'string'
  if (typeof value !== wanted) throw invalidInput(`${path}.value`, `"${path}.value" of "${type}" must be a ${wanted}.`)
  if (type === 'json_schema') formOfSchema(value as Record<string, unknown>, `${path}.value`)
  if (type !== 'matches') return
  try {
    if (Number.isFinite(compilePattern(value as string).steps)) return
  } catch (error) {
    throw invalidInput(`${path}.value`, `"${path}.value" ${(error as Error).message}.`)
  }
  throw invalidInput(`${path}.value`, `"${path}.value" uses what only backtracking finds. Write it without.`)
}

type ReplayDeps = Pick<Deps, 'completions' | 'engines' | 'honours'> & { usageReading: Pick<UsageReading, 'request'> }

const notKept = defineError(
  'conflict',
  () => 'The body of this request is not kept, so it cannot be sent again. Switch on keep_bodies with PATCH /settings.',
)

/** Sends a stored request again, to the same engine or another one. */
export function createReplay({ completions, engines, honours, usageReading }: ReplayDeps) {
  /** `POST /requests/{id}/replay`. Throws 404, 409 `conflict` without a stored body, and what a completion throws. */
  return async function replay(call: Call, id: string, { model, mode, dry_run }: ReplayInput) {
    const { request } = (await usageReading.request(call, id)).bodies
    if (!request) throw notKept()
    const body: object = { ...request, ...(mode ? { mode } : {}) }
    const atBase = !('svc_base' in body)
    const order =
      'messages' in body
        ? (requestFromChat(body as ChatInput, honours(call.caller, atBase), atBase) as CompletionRequest)
        : ((await completions.requestOf(call, body as CompletionInput, true)) as CompletionRequest)
    const again: CompletionRequest = {
      ...{ ...order, conversation: 'none', cache: 'off', metadata: { ...order.metadata, replay_of: id } },
      ...(model ? { engine: engines.named(model) } : {}),
    }
    if (dry_run) return { estimate_cents: microToCents(await completions.pipeline.accept(call, again)) }
    return (await completions.pipeline.complete(call, again)) as Completion | ChatCompletion
  }
}
