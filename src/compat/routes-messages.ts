import { Elysia } from 'elysia'
import { type CompletionService, nameIgnored } from '../completions'
import type { EngineService } from '../engines'
import { answer, type ErrorFormat, statusOf, toEnvelope } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import type { Streams } from '../http/sse'
import { type Clock, iso } from '../kernel/clock'
import { type AppError, notFound } from '../kernel/errors'
import { checked, described, namedObject, t } from '../kernel/schema'
import { sseFrame } from '../kernel/stream'
import { type FileDeps, filesRead, givenFiles } from './files'
import { type MessageRequest, readMessage } from './messages-input'
import { messageFramer, PING, toMessage } from './messages-output'
import { CountInput, MessageBody, MessageError, MessageInput } from './messages-schema'
import { baseRulesOf, isMessages } from './routes-bases'

type Deps = FileDeps & {
  completions: Pick<CompletionService, 'pipeline'>
  engines: Pick<EngineService, 'named' | 'window'>
}

const OPENING_MS = 10_000

/** The AI SDK up to version 6 refuses an answer that says null where a text has no citations. */
const REFUSES_NULL = /(?:^|\s)ai(?:\/[0-6]|-sdk\/anthropic\/[0-3])\./

/** The message that a thread continues. If it is not found, client packages send the whole conversation. */
const THREAD = 'thread.previous_message_id'

/** These clients wait after 529, but treat 503 as a fault of the server. */
const OVERLOADED = 529

const STATUSES = [400, 401, 402, 403, 404, 409, 413, 415, 429, 500, 503, 504, OVERLOADED] as const
const REFUSALS = Object.fromEntries(STATUSES.map((status) => [status, described(MessageError)])) as Record<
  (typeof STATUSES)[number],
  ReturnType<typeof described<typeof MessageError>>
>

export const messageRoutes = ({ completions: { pipeline }, engines, ...deps }: Deps, streams: Streams, guard: Guard) =>
  new Elysia({ tags: ['Messages'] })
    .use(guard)
    .post(
      '/messages',
      async ({ body, request, set, exchange, route }) => {
        const call = toCall({ exchange, request, route })
        const { thread } = body as { thread?: { type?: unknown } | null }
        if (thread?.type === 'continue') throw notFound.with({ param: THREAD }, 'thread')
        const read = await filesRead({ ...deps, engines }, call, at(engines, request, body))
        const message = readMessage(read.body, read.warnings)
        Object.assign(message.request, givenFiles(read), nameIgnored(set.headers, message.ignored))
        if (body.stream)
          return streams.open({
            source: (write) => pipeline.stream(call, message.request, write),
            frame: messageFramer({ ...message, windowOf: engines.window }),
            heartbeat: () => PING,
            failure: (error) =>
              sseFrame({ event: 'error', data: { type: 'error', error: faceOf(error), request_id: error.request_id } }),
            endsWithDone: false,
            openingMs: OPENING_MS,
            exchange,
            request,
            route,
          }) as never
        exchange.keepOpen()
        const refusesNull = REFUSES_NULL.test(request.headers.get('user-agent') ?? '')
        return pipeline.complete(call, presented(message, engines, refusesNull ? {} : undefined))
      },
      {
        scope: 'completions',
        idempotent: true,
        timeLimit: 'own',
        native: true,
        body: checked(MessageInput, { undeclared: 'kept' }),
        response: { 200: answer(MessageBody), ...REFUSALS },
        detail: {
          summary: 'Answer in the Messages format',
          description:
            'Errors have the form of this format: `{type:"error", error:{type, message, details}, request_id}`.',
          'x-streams': true,
        } as object,
      },
    )
    .post(
      '/messages/count_tokens',
      async ({ body, request, exchange, route }) => {
        const call = toCall({ exchange, request, route })
        const read = await filesRead({ ...deps, engines }, call, at(engines, request, body), false)
        const counted = Object.entries(read.body).filter(([name]) => COUNTED.has(name))
        const input = { ...(Object.fromEntries(counted) as CountInput), max_tokens: Number.MAX_SAFE_INTEGER }
        const message = readMessage(input, [])
        return { input_tokens: await pipeline.count(call, { ...message.request, ...givenFiles(read) }) }
      },
      {
        scope: 'completions',
        body: checked(CountInput, { undeclared: 'kept' }),
        response: {
          200: answer(namedObject('MessageCount', { input_tokens: t.Integer() })),
          ...REFUSALS,
        },
        detail: { summary: 'Count the tokens of a message' } as object,
      },
    )

/** Members of a body that are counted. The others are not even checked. */
const COUNTED = new Set(Object.keys(CountInput.properties))

/** The request of a message with the form of its answer. */
export const presented = (
  { request, omitsThoughts }: MessageRequest,
  { window: windowOf }: Pick<EngineService, 'window'>,
  uncited?: { citations?: null },
) => ({
  ...request,
  present: (...[run, found]: Parameters<typeof request.present>) =>
    toMessage(run, found, { omitsThoughts, windowOf, ...(uncited && { uncited }) }),
})

/** Applies the model of the path, which overrides that of the body. */
function at<Input extends { model?: string | null | undefined }>(
  engines: Deps['engines'],
  request: Request,
  input: Input,
): Input {
  const model = engines.named(baseRulesOf(request).model ?? input.model)
  return model === input.model ? input : { ...input, model }
}

/** Names of errors in this format, by the type of this server. Other types have the same name. */
const TYPES: Readonly<Record<string, string>> = { conflict_error: 'invalid_request_error' }
/** Names of errors in this format, by the code of this server. */
const CODES: Readonly<Record<string, string>> = {
  payload_too_large: 'request_too_large',
  engine_unavailable: 'overloaded_error',
  service_unavailable: 'overloaded_error',
  request_timeout: 'timeout_error',
}

const TOO_LONG = /comes? to (?:about )?(\d{1,12}) tokens; the maximum context length of the engine is (\d{1,12})/

/** An error in this format (docs/api.md 30.5). A prompt that is too long gets the words that clients look for. */
function faceOf({ type, code, message, param }: ReturnType<typeof toEnvelope>['error']) {
  const [, tokens, max] = TOO_LONG.exec(message) ?? []
  return {
    type: CODES[code] ?? TYPES[type] ?? type,
    message: tokens && max ? `prompt is too long: ${tokens} tokens > ${max} maximum. ${message}` : message,
    details: { error_code: param === THREAD ? 'thread_not_found' : code, param: param || null },
  }
}

const MESSAGES: ErrorFormat = {
  statusOf: (error: AppError) => (CODES[error.code] === 'overloaded_error' ? OVERLOADED : statusOf(error)),
  bodyOf: (error: AppError, requestId: string) => ({
    type: 'error',
    error: faceOf(toEnvelope(error, requestId).error),
    request_id: requestId,
  }),
}

/** The error format of a path, if it differs from the usual one. */
export const errorFormatOf = (path: string): ErrorFormat | null => (isMessages(path) ? MESSAGES : null)

/** The headers that clients of this format read, derived from the usual headers (docs/api.md 30.3). */
export function messageHeaders(headers: Record<string, unknown>, clock: Clock) {
  const resetOf = (what: string) =>
    iso(clock.now() + Number.parseInt(`${headers[`x-ratelimit-reset-${what}`]}`, 10) * 1_000)
  // Written out, because every answer has them.
  return {
    'request-id': `${headers['x-request-id']}`,
    'anthropic-ratelimit-requests-limit': `${headers['x-ratelimit-limit-requests']}`,
    'anthropic-ratelimit-requests-remaining': `${headers['x-ratelimit-remaining-requests']}`,
    'anthropic-ratelimit-requests-reset': resetOf('requests'),
    'anthropic-ratelimit-tokens-limit': `${headers['x-ratelimit-limit-tokens']}`,
    'anthropic-ratelimit-tokens-remaining': `${headers['x-ratelimit-remaining-tokens']}`,
    'anthropic-ratelimit-tokens-reset': resetOf('tokens'),
  }
}
