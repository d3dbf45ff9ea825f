import type { CompletionService, Progress } from '../completions'
import type { Call } from '../kernel/caller'
import { AppError, invalidInput } from '../kernel/errors'
import { assertInput, itemsOf, type ResponseRequest, readResponse } from './responses-input'
import { createOutput, type ResponseOutput } from './responses-output'
import type { Item, ResponseBody, ResponseInput } from './responses-schema'
import { itemsBefore, type StoredDeps, storeResponse, withReferences } from './stored'

export type ResponseDeps = StoredDeps & { completions: Pick<CompletionService, 'pipeline'> }

/** A response that was read and can be run. */
export type OpenResponse = Pick<ResponseRequest, 'ignored' | 'request'> & {
  output: ResponseOutput
  /** The items of its own input. */
  own: readonly Item[]
}

const NOT_STORED = 'The response was not stored: this server stores none (SVC_RESPONSES_TTL_DAYS=0).'

const NOTHING_TO_READ = 'A background response is read later, and this one would not be stored. Leave "background" out.'

/** Reads a response, one that has begun under its id. Throws 400 `empty_prompt`, 400 `validation_error`, 404, 409. */
export async function openResponse(
  deps: ResponseDeps,
  call: Call,
  input: ResponseInput,
  begun?: ResponseBody,
): Promise<OpenResponse> {
  assertInput(input)
  const { previous_response_id: previous } = input
  const own = await withReferences(deps, call, itemsOf(input))
  const earlier = previous == null ? [] : await itemsBefore(deps, call, previous)
  const { request, kinds, ignored } = readResponse(input, own, earlier)
  const stores = (input.store ?? true) && deps.settings.responsesTtlDays > 0 && !request.mode.startsWith('stealth_')
  if (input.background && !stores) throw invalidInput('background', NOTHING_TO_READ)
  const unstored = (input.store ?? true) && deps.settings.responsesTtlDays === 0 ? [NOT_STORED] : []
  const output = createOutput({
    input: { ...input, store: stores },
    kinds,
    requestId: call.requestId,
    clock: deps.clock,
    ...(begun ? { begun } : {}),
  })
  const alongside: ResponseRequest['request']['alongside'] = (tx, run, answer, broken) => {
    const { body } = broken === undefined ? output.end(run, answer) : output.failed(failureOf(broken))
    return storeResponse(deps, tx, call, { input: own, body, lastSequence: output.lastSequence() })
  }
  return {
    ignored,
    output,
    own,
    request: { ...request, warnings: [...request.warnings, ...unstored], ...(stores ? { alongside } : {}) },
  }
}

/** What ended an answer that had begun: nothing of the caller's, so it is always an error of the service. */
export const failureOf = (error: unknown) => ({
  code: error instanceof AppError ? error.code : 'server_error',
  message: error instanceof AppError ? error.message : 'The answer was not finished.',
  type: 'api_error',
})

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

/** `POST /responses/input_tokens`: counts what a response would send, without calling an engine. */
export async function countInput(deps: ResponseDeps, call: Call, input: ResponseInput) {
  const { request } = await openResponse(deps, call, input)
  const input_tokens = await deps.completions.pipeline.count(call, request)
  return { object: 'response.input_tokens' as const, input_tokens }
}
