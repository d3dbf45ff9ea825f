import { actingIdentityOf, type BackgroundCallers } from '../accounts'
import type { Hold } from '../billing/schema'
import type { PublicJobs, PublicKind } from '../charging'
import type { Live } from '../cluster'
import type { CompletionRequest, CompletionService, Progress } from '../completions'
import type { EngineService } from '../engines'
import { GiveUp, type Jobs, type Running } from '../jobs'
import type { JobId } from '../jobs/schema'
import { type Call, type OwnerScope, ownerOf } from '../kernel/caller'
import { AppError, defineError, invalidInput } from '../kernel/errors'
import { newRequestId } from '../kernel/ids'
import { centsToMicro } from '../kernel/money'
import { ConversationId } from '../skills/conversations/schema'
import { type FileDeps, filesRead, givenFiles, showing } from './files'
import { assertInput, itemsOf, type ResponseRequest, readResponse } from './responses-input'
import { opened, sealer } from './responses-items'
import { createOutput, type ResponseOutput } from './responses-output'
import type { Item, ResponseBody, ResponseId, ResponseInput } from './responses-schema'
import {
  beganResponse,
  deleteResponse,
  endResponse,
  failureOf,
  findResponse,
  finishResponse,
  getResponse,
  hasEnded,
  openingOf,
  replayResponse,
  type StoredDeps,
  storeResponse,
  threadOf,
  withReferences,
} from './stored'

export type ResponseDeps = StoredDeps &
  FileDeps & {
    masterKey: Uint8Array
    completions: Pick<CompletionService, 'pipeline'>
    engines: Pick<EngineService, 'named' | 'window'>
  }

/** A response that was read and can be run. */
export type OpenResponse = Pick<ResponseRequest, 'ignored' | 'request'> & {
  output: ResponseOutput
  /** The items of its own input. */
  own: readonly Item[]
  /** The request, with its files replaced by texts. */
  order: ResponseInput
  finish(
    ...ending: Parameters<NonNullable<CompletionRequest['alongside']>>
  ): Promise<{ body: ResponseBody; lastSequence: number; conversation: ConversationId | null }>
}

const NOT_STORED = 'The response was not stored: this server stores none (SVC_RESPONSES_TTL_DAYS=0).'

const NOTHING_TO_READ = 'A background response is read later, and this one would not be stored. Leave "background" out.'

/** Reads a response, or one `begun` earlier. Throws 400 `empty_prompt`, 400 `validation_error`, 404, 409. */
export async function openResponse(
  deps: ResponseDeps,
  call: Call,
  sent: ResponseInput,
  begun?: ResponseBody,
  counts = false,
): Promise<OpenResponse> {
  assertInput(sent)
  const { body: input, warnings, files } = await filesRead(deps, call, sent, !counts)
  const owner = ownerOf(call.caller)
  const own = await withReferences(deps, call, itemsOf(input))
  const read = (items: readonly Item[]) => items.map((item) => opened(deps, owner, item, warnings))
  const thread = await threadOf(deps, call, input, own)
  const { request, kinds, ignored } = readResponse({ ...input, model: deps.engines.named(input.model) }, read(own), {
    ...thread,
    earlier: read(thread.earlier),
  })
  const stores = (input.store ?? true) && deps.settings.responsesTtlDays > 0 && !request.mode.startsWith('stealth_')
  if (input.background && !stores) throw invalidInput('background', NOTHING_TO_READ)
  const unstored = (input.store ?? true) && deps.settings.responsesTtlDays === 0 ? [NOT_STORED] : []
  const pictures = new Map<string, string>()
  const { hosted } = request
  const output = createOutput({
    input: { ...input, store: stores },
    kinds,
    requestId: call.requestId,
    clock: deps.clock,
    // Only this server can read them, for their owner, and for 30 days (docs/api.md 29.6).
    sealed: input.include?.includes('reasoning.encrypted_content') ? sealer(deps, owner) : undefined,
    pictures,
    ...(begun ? { begun } : {}),
  })
  const isKept =
    !request.mode.startsWith('stealth_') && (thread.conversation !== null || (stores && thread.chain.length > 0))
  const kept = { owner, thread, own, output, fresh: isKept ? ConversationId.create() : null }
  const finish: OpenResponse['finish'] = (tx, ...ending) => finishResponse(deps, tx, kept, ...ending)
  const alongside: ResponseRequest['request']['alongside'] = async (...ending) => {
    const ended = await finish(...ending)
    if (stores) await storeResponse(deps, ending[0], call, { input: own, ...ended })
  }
  request.shownId = () => output.id
  Object.assign(request, givenFiles({ files }))
  if (hosted) request.hosted = { ...hosted, tools: showing(deps, call, hosted.tools, pictures) }
  request.warnings = [...request.warnings, ...warnings, ...unstored]
  if (stores || isKept) Object.assign(request, { alongside, isApart: !isKept })
  return { ignored, output, own, finish, order: input, request }
}

/** The whole response. Throws what the pipeline throws. */
export function answerResponse(
  { completions }: ResponseDeps,
  call: Call,
  { request, output }: OpenResponse,
): Promise<ResponseBody> {
  return completions.pipeline.complete(call, { ...request, present: (run, answer) => output.end(run, answer).body })
}

/** The response as a stream of frames. */
export function streamResponse({ completions }: ResponseDeps, call: Call, { request, output }: OpenResponse) {
  return {
    source: (write: (progress: Progress) => void | Promise<void>) => completions.pipeline.stream(call, request, write),
    frame: output.frame,
    failure: (error: { code: string; message: string; type: string }) => output.failed(error).frames,
    endsWithDone: false,
    openingMs: 10_000,
  }
}

/** `POST /responses/input_tokens`: counts the tokens that a response would send, without calling an engine. */
export async function countInput(deps: ResponseDeps, call: Call, input: ResponseInput) {
  const { request } = await openResponse(deps, call, input, undefined, true)
  const input_tokens = await deps.completions.pipeline.count(call, request)
  return { object: 'response.input_tokens' as const, input_tokens }
}

export type BackgroundDeps = ResponseDeps & {
  publicJobs: Pick<PublicJobs, 'accept' | 'cancel'>
  jobs: Pick<Jobs, 'keepFor' | 'shown'>
  live: Pick<Live, 'publish' | 'subscribe'>
  /** The caller as whom the stored work of a key or session runs. Null when that caller has lost access. */
  unattended: BackgroundCallers
}

/** The job's payload. The body of the request is stored with the job until the job ends. */
type Due = ReturnType<typeof actingIdentityOf> & {
  id: ResponseId
  owner: OwnerScope
  requestId: string
  route: string
  /** True if its creator reads the stream. */
  streams: boolean
}

/** Frames of a running response, with the numbers of the first and of the one after the last. */
type Piece = { from: number; to: number; frames: string }

type Heard = { next(waitMs: number, signal: AbortSignal): Promise<Piece | null>; stop(): void }

const KIND = { name: 'responses.background', shown: 'response' } as const
const ORDER = 'order'
const TOPIC = 'response'
/** Maximum number of open background responses per owner. */
const MAX_OPEN = 50
const MINUTE_MS = 60_000
/** How often waiting readers check a running response. */
const LOOK_MS = 500

const tooManyOpen = defineError(
  'rate_limit_exceeded',
  () => `You have ${MAX_OPEN} background responses open, and no more are allowed. Wait for one to end, or cancel one.`,
)

/** The id of the job that makes a background response, derived from the response's id. */
const jobIdOf = (id: ResponseId): JobId => `job_${id.slice('resp_'.length)}` as JobId

/**
 * Queues a response and holds its price. The answer is `queued`. Throws 400, 402, 404, 409, 429, 503
 * `queue_unavailable`.
 */
export async function beginResponse(
  deps: BackgroundDeps,
  call: Call,
  input: ResponseInput,
  open: OpenResponse,
): Promise<ResponseBody> {
  const { publicJobs, jobs, completions } = deps
  const { caller, requestId, route } = call
  const body = open.output.queued()
  const streams = input.stream === true
  const due: Due = { ...actingIdentityOf(caller), id: body.id, owner: ownerOf(caller), requestId, route, streams }
  return publicJobs.accept(call, KIND, {
    id: jobIdOf(body.id),
    input: due,
    hold: await completions.pipeline.accept(call, open.request),
    answer: () => body,
    effects: async (tx, job) => {
      // The count includes this job.
      if ((await jobs.shown.countOpen(tx, ownerOf(caller), KIND.shown)) > MAX_OPEN)
        throw tooManyOpen.with({ retryAfterS: 5 })
      await storeResponse(deps, tx, call, { input: open.own, body, lastSequence: 0, conversation: null })
      await jobs.keepFor(tx, job, ORDER, open.order)
    },
  })
}

/** Like `beginResponse`, as a stream that ends with the response. A reader who leaves does not stop it. */
export async function streamBegun(
  deps: BackgroundDeps,
  call: Call,
  input: ResponseInput,
  open: OpenResponse,
  write: (frames: string) => void | Promise<void>,
): Promise<void> {
  const heard = hear(deps, open.output.id)
  try {
    await beginResponse(deps, call, input, open)
    await follow(deps, call, open.output.id, -1, heard, write)
  } finally {
    heard.stop()
  }
}

/** `GET /responses/{id}?stream=true`. Sends the opening of a running response, then its end. Throws 404. */
export const streamStored =
  (deps: Pick<BackgroundDeps, 'store' | 'clock'>, call: Call, id: string, after: number) =>
  (write: (frames: string) => void | Promise<void>): Promise<void> =>
    follow(deps, call, id, after, null, write)

async function follow(
  deps: Pick<BackgroundDeps, 'store' | 'clock'>,
  call: Call,
  id: string,
  after: number,
  heard: Heard | null,
  write: (frames: string) => void | Promise<void>,
): Promise<void> {
  let { body, lastSequence } = await getResponse(deps, call, id)
  let last = after
  const say = async (frames: string, number: number) => {
    last = Math.max(last, number)
    if (frames) await write(frames)
  }
  if (!hasEnded(body)) await say(openingOf(body, last, deps.clock), 1)
  while (!hasEnded(body)) {
    const piece = heard && (await heard.next(LOOK_MS, call.signal))
    if (piece) {
      // Missed frames are sent at the end.
      if (piece.from <= last + 1 && piece.to > last + 1) await say(piece.frames, piece.to - 1)
      continue
    }
    if (!heard) await deps.clock.sleep(LOOK_MS, call.signal)
    call.signal.throwIfAborted()
    ;({ body, lastSequence } = await getResponse(deps, call, id))
  }
  for (let piece = await heard?.next(0, call.signal); piece; piece = await heard?.next(0, call.signal))
    if (piece.from <= last + 1 && piece.to > last + 1) await say(piece.frames, piece.to - 1)
  // The end is also sent to a reader who has read more than is stored of it.
  const end = last === after ? lastSequence : Math.max(lastSequence, last + 1)
  if (last !== lastSequence || last === after) await say(replayResponse(body, end, last, deps.clock), end)
}

/** Frames of a running response as its job writes them, from now on. */
function hear({ live, clock }: Pick<BackgroundDeps, 'live' | 'clock'>, id: ResponseId): Heard {
  const pieces: Piece[] = []
  let wake = () => {}
  const stop = live.subscribe(TOPIC, id, (piece) => {
    if (piece) pieces.push(piece as Piece & typeof piece)
    wake()
  })
  return {
    stop,
    async next(waitMs, signal) {
      if (!pieces.length && waitMs) {
        const waiting = new AbortController()
        wake = () => waiting.abort()
        await clock.sleep(waitMs, AbortSignal.any([signal, waiting.signal]))
      }
      return pieces.shift() ?? null
    },
  }
}

/** `POST /responses/{id}/cancel`. Returns an ended response as it is. Throws 400 for one not in the background, 404. */
export async function cancelResponse(deps: BackgroundDeps, call: Call, id: string): Promise<ResponseBody> {
  const { body } = await getResponse(deps, call, id)
  if (!body.background)
    throw new AppError('validation_error', 'Only a response with "background": true can be cancelled.', {
      param: 'id',
    })
  if (hasEnded(body)) return body
  await deps.publicJobs.cancel(call, jobIdOf(body.id)).catch((error: unknown) => {
    // The response has ended meanwhile.
    if (!(error instanceof AppError && error.kind === 'conflict')) throw error
  })
  return (await getResponse(deps, call, id)).body
}

/** `DELETE /responses/{id}`. Cancels a running response first. Throws 404. */
export async function removeResponse(deps: BackgroundDeps, call: Call, id: string) {
  const { body } = await getResponse(deps, call, id)
  if (!hasEnded(body)) await cancelResponse(deps, call, id)
  return deleteResponse(deps, call, id)
}

/** Responses as jobs: ten minutes, and one restart if the process is lost (docs/api.md 29.9). */
export function backgroundKind(deps: BackgroundDeps): PublicKind<Due> {
  const { store, clock, completions, live } = deps
  return {
    ...KIND,
    retry: { attempts: 2, delayMs: () => 1_000 },
    timeLimitMs: 10 * MINUTE_MS,
    concurrency: 16,
    concurrencyPerKey: 8,
    remembers: true,
    run,
    onFailure: async (tx, { id, owner }, error) => {
      const row = await findResponse(tx, { id, owner })
      if (!row) return
      const status = error === 'cancelled' ? ('cancelled' as const) : ('failed' as const)
      const failure = status === 'failed' ? { code: 'server_error', message: error, type: 'api_error' } : null
      await endResponse(tx, { ...row.body, status, error: failure }, 2)
    },
  }

  async function run(job: Running<Due>, hold: Hold | null) {
    const { id, owner, requestId, route } = job.payload
    const row = await findResponse(store.read, { id, owner })
    if (!row) throw new GiveUp('The response was deleted.')
    // The process that made the response was lost before it could report the end.
    if (hasEnded(row.body)) return resultOf(row.body)
    const caller = await deps.unattended(job.payload)
    if (!caller) throw new GiveUp('The key or session that asked for this response is no longer valid.')
    const input = (await job.recall(ORDER)) as ResponseInput
    await job.write((tx) => beganResponse(tx, row.body))
    const call: Call = {
      caller,
      route,
      requestId: job.attempt === 1 ? requestId : newRequestId(),
      signal: job.signal,
    }
    const open = await openResponse(deps, call, input, row.body)
    const { output } = open
    let shownUpTo = 0
    const tell = (frames: string) => {
      const to = output.lastSequence() + 1
      if (job.payload.streams && to > shownUpTo) live.publish(TOPIC, id, { from: shownUpTo, to, frames })
    }
    const request = {
      ...open.request,
      accepted: { hold },
      isApart: false,
      alongside: async (tx, made, answer, broken) => {
        // Cancelled, or the server stops: nothing is charged.
        if (broken !== undefined && job.signal.aborted) throw broken
        const { body, lastSequence, conversation } = await open.finish(tx, made, answer, broken)
        if (!(await endResponse(tx, body, lastSequence, conversation)))
          throw new GiveUp('The response has ended already.')
      },
    } satisfies CompletionRequest
    try {
      await whenThereAreTokens(job, () =>
        completions.pipeline.stream(call, request, (progress) => {
          const frames = output.frame(progress)
          // All readers have already received the beginning.
          if (progress.type !== 'began') tell(frames)
          shownUpTo = output.lastSequence() + 1
        }),
      )
    } catch (error) {
      if (job.signal.aborted || !(error instanceof AppError) || error.code === 'storage_unavailable') throw error
      const { body, frames } = output.failed(failureOf(error))
      await job.write((tx) => endResponse(tx, body, output.lastSequence()))
      tell(frames)
      throw new GiveUp(error.message)
    }
    return resultOf((await findResponse(store.read, { id, owner }))?.body ?? row.body)
  }

  /** Waits until the used-up tokens per minute are available again. */
  async function whenThereAreTokens(job: Running<Due>, work: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'token_limit_exceeded')) throw error
        await clock.sleep((error.retryAfterS ?? 1) * 1_000, job.signal)
        job.signal.throwIfAborted()
      }
    }
  }
}

const resultOf = ({ id, svc_metadata: metadata }: ResponseBody) => ({
  data: { response_id: id },
  cost: centsToMicro(metadata?.cost_cents ?? 0),
})
