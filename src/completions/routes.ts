import { Elysia } from 'elysia'
import type { EngineService } from '../engines'
import type { GivenFile } from '../engines/schema'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import type { Streams } from '../http/sse'
import type { Call, Caller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { checked, t } from '../kernel/schema'
import { requestFromChat } from './chat-from-wire'
import { HONOURED_MEMBERS } from './chat-parameters'
import type { AnswerStream, CompletionService } from './pipeline'
import { ignoredNamesIn, nameIgnored, ofOtherModes } from './rules'
import type { CompletionRequest } from './run'
import { ChatCompletion, ChatInput, Completion, CompletionInput } from './schema'
import { chatFramer } from './stream'
import { OPENING_MS } from './think'
import { ActionInput, ActionResult, TokenInput, type Voice, VoiceToken } from './voice'

type Deps = {
  completions: CompletionService
  engines: Pick<EngineService, 'named'>
  clock: Clock
  rulesOf(request: Request, caller: Caller): ChatRules
  /** The same body with files and recordings replaced by texts. */
  filesRead(call: Call, body: ChatInput): ReadChat | Promise<ReadChat>
}

/**
 * How a chat is treated, by the path of its request and its key. `honours`: parameters of clients take effect.
 * `forClients`: all else also behaves as clients expect. `model`: a model that the path names (docs/api.md 32.1, 33.1).
 */
type ChatRules = { honours: boolean; forClients: boolean; model: string | null }

type ReadChat = { body: ChatInput; warnings: string[]; files: readonly GivenFile[] }
type Ready = ReadChat & Pick<CompletionRequest, 'ignores'>

/** Paths that chat clients call by default but that are not served here, with what to call instead. */
const NOT_SERVED: Readonly<Record<string, string>> = {
  '/messages/batches': 'Send batches to POST /api/v1/batches.',
  '/responses/compact': 'Send POST /api/v1/responses with "truncation": "auto": it leaves out the oldest turns.',
  '/images/variations': 'Send POST /api/v1/images/edits.',
  '/uploads': 'Send files whole to POST /api/v1/files.',
  '/fine_tuning': 'Models are not trained here. Use skills: POST /api/v1/skills.',
  '/assistants': 'Send POST /api/v1/responses, with skills for instructions.',
  '/threads': 'Send POST /api/v1/responses with "conversation".',
  '/vector_stores': 'Send POST /api/v1/embeddings and keep the vectors yourself.',
  '/realtime': 'Send POST /api/v1/voice/token.',
}

/** What to call instead of a path, or of a path below it. Null for unknown paths. */
export const insteadOf = (path: string): string | null =>
  NOT_SERVED[path] ?? NOT_SERVED[`/${path.split('/')[1]}`] ?? null

export const chatRoutes = (chat: ReturnType<typeof createChat>, streams: Streams, guard: Guard) =>
  new Elysia({ tags: ['Chat'] }).use(guard).post(
    '/chat/completions',
    async ({ body, request, set, exchange, route }) => {
      const call = toCall({ exchange, request, route })
      const rules = chat.rulesOf(request, call.caller)
      const ignored = ignoredNamesIn(body, rules.honours ? HONOURED_MEMBERS : undefined)
      const ignoring = nameIgnored(set.headers, ignored)
      const read = Object.assign(await chat.filesRead(call, body, rules), ignoring)
      if (body.stream) return streams.open({ ...chat.stream(call, read, rules), exchange, request, route }) as never
      exchange.keepOpen()
      return chat.complete(call, read, rules)
    },
    {
      scope: 'completions',
      idempotent: true,
      timeLimit: 'own',
      native: true,
      body: checked(ChatInput, { undeclared: 'kept' }),
      response: { 200: answer(ChatCompletion), ...errors(400, 401, 402, 403, 404, 413, 415, 429, 500, 503, 504) },
      detail: {
        summary: 'Answer chat messages in the chat-completions format',
        'x-streams': true,
      } as object,
    },
  )

/** `Cache-Control: no-cache` skips the lookup and refreshes the entry (docs/api.md 22.1). */
export const wantsFresh = (request: Request) =>
  /\bno-cache\b|\bno-store\b/i.test(request.headers.get('cache-control') ?? '')

export const completionRoutes = (completions: CompletionService, streams: Streams, guard: Guard) =>
  new Elysia({ tags: ['Completions'] }).use(guard).post(
    '/completions',
    async ({ body, request, set, exchange, route }) => {
      const call = toCall({ exchange, request, route })
      const fresh = wantsFresh(request)
      if (body.stream) {
        const stream = await completions.stream(call, body, fresh)
        return streams.open({ ...stream, exchange, request, route }) as never
      }
      exchange.keepOpen()
      const completion = await completions.complete(call, body, fresh)
      set.headers['x-cache'] = '_cached' in completion ? 'HIT' : 'MISS'
      return completion
    },
    {
      scope: 'completions',
      idempotent: true,
      timeLimit: 'own',
      native: true,
      body: checked(CompletionInput, { ignored: ofOtherModes, undeclared: 'kept' }),
      response: {
        200: answer(t.Union([Completion, ChatCompletion])),
        ...errors(400, 401, 402, 403, 404, 413, 415, 429, 500, 503, 504),
      },
      detail: {
        summary: 'Answer a prompt',
        description:
          'With `stream: true` the answer is `text/event-stream`; with `format: "compat"` it is a chat completion object.',
        'x-streams': true,
      } as object,
    },
  )

/** `POST /chat/completions`: translates chat requests and answers. The completion pipeline does the work. */
export function createChat({ completions, clock, engines, rulesOf, filesRead }: Deps) {
  function read({ body, warnings, ignores, files }: Ready, { honours, forClients, model }: ChatRules) {
    const name = engines.named(model ?? body.model)
    const original = name === body.model ? body : { ...body, model: name }
    const read = requestFromChat(original, honours, forClients)
    read.original = original
    if (ignores) read.ignores = ignores
    if (files.length) read.files = files
    if (warnings.length) read.warnings = [...read.warnings, ...warnings]
    return read
  }

  return {
    rulesOf,

    filesRead: (call: Call, body: ChatInput, { model }: ChatRules) =>
      filesRead(call, model === null ? body : { ...body, model }),

    /** Throws 400 `empty_prompt`, and whatever the pipeline throws. */
    complete(call: Call, input: Ready, rules: ChatRules): Promise<ChatCompletion> {
      return completions.pipeline.complete(call, read(input, rules))
    },

    stream(call: Call, input: Ready, rules: ChatRules): AnswerStream {
      const request = read(input, rules)
      const source: AnswerStream['source'] = (write) => completions.pipeline.stream(call, request, write)
      const includeUsage = input.body.stream_options?.include_usage === true
      return { source, frame: chatFramer(clock, includeUsage), endsWithDone: true, openingMs: OPENING_MS }
    },
  }
}

/** `/voice` (docs/api.md 6). */
export const voiceRoutes = (voice: Voice, guard: Guard) =>
  new Elysia({ prefix: '/voice', tags: ['Audio'] })
    .use(guard)
    .post('/token', (context) => voice.token(toCall(context), context.body), {
      scope: 'completions',
      idempotent: true,
      body: checked(TokenInput),
      response: { 200: answer(VoiceToken), ...errors(400, 401, 402, 403, 404, 409, 429, 503) },
      detail: {
        summary: 'Open a live voice session',
        description: 'The token lasts 30 minutes. Attach `systemInstruction` and `tools` to the live session.',
      },
    })
    .post('/action', (context) => voice.act(toCall(context), context.body), {
      scope: 'completions',
      idempotent: true,
      timeLimit: 'own',
      body: checked(ActionInput),
      response: { 200: answer(ActionResult), ...errors(400, 401, 402, 403, 404, 409, 429, 503, 504) },
      detail: { summary: 'Run a tool that a live voice session asked for' },
    })
