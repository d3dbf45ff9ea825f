import type { CompletionService, Progress } from '../completions'
import type { Call } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { type ResponseRequest, readResponse } from './responses-input'
import { createOutput, type ResponseOutput } from './responses-output'
import type { Item, ResponseBody, ResponseInput } from './responses-schema'

export type ResponseDeps = { completions: Pick<CompletionService, 'pipeline'>; clock: Clock }

/** A response that was read and can be run. */
export type OpenResponse = Pick<ResponseRequest, 'ignored'> & {
  request: ResponseRequest['request']
  output: ResponseOutput
}

/** Reads a response. Throws 400 `empty_prompt`, 400 `validation_error`. */
export function openResponse({ clock }: ResponseDeps, call: Call, input: ResponseInput): OpenResponse {
  const earlier: Item[] = []
  const { request, kinds, ignored } = readResponse(input, earlier)
  return { request, ignored, output: createOutput({ input, kinds, requestId: call.requestId, clock }) }
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
    failure: (error: { code: string; message: string; type: string }) => output.failed(error, null).frames,
    endsWithDone: false,
    openingMs: 10_000,
  }
}
