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
  /**
   * Reads the path of a request and its key. `honours`: parameters of clients take effect. `forClients`: all else also
   * behaves as clients expect. `model`: a model that the path names (docs/api.md 32.1, 33.1).
   */
  baseRulesOf(request: Request, caller: Caller): { honours: boolean; forClients: boolean; model: string | null }
  /** The same body with files and recordings replaced by texts. */
  filesRead(call: Call, body: ChatInput): ReadChat | Promise<ReadChat>
}

type ReadChat = { body: ChatInput; warnings: string[]; files: readonly GivenFile[] }
type Ready = ReadChat & Pick<CompletionRequest, 'ignores'>

type ChatService = ReturnType<typeof createChat>

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

export const chatRoutes = (chat: ChatService, streams: Streams, guard: Guard) =>
  new Elysia({ tags: ['Chat'] }).use(guard).post(
    '/chat/completions',
    async ({ body, request, set, exchange, route }) => {
      const call = toCall({ exchange, request, route })
      const ignoring = nameIgnored(set.headers, chat.ignored(call, body, request))
      const read = { ...(await chat.filesRead(call, body, request)), ...ignoring }
      if (body.stream) return streams.open({ ...chat.stream(call, read, request), exchange, request, route }) as never
      exchange.keepOpen()
      return chat.complete(call, read, request)
    },
    {
      scope: 'completions',
      idempotent: true,
      timeLimit: 'own',
      native: true,
      body: checked(ChatInput),
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
      body: checked(CompletionInput, { ignored: ofOtherModes }),
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

/** `POST /chat/completions`: translates chat orders and answers. The completion pipeline does the work. */
export function createChat({ completions, clock, engines, baseRulesOf, filesRead }: Deps) {
  function read({ caller }: Call, { body, warnings, ignores, files }: Ready, request: Request) {
    const { honours, forClients, model } = baseRulesOf(request, caller)
    const original = { ...body, model: engines.named(model ?? body.model) }
    const read = requestFromChat(original, honours, forClients)
    // Marks the address, so that a replay applies the same parameters.
    read.original = forClients ? original : { ...original, svc_base: '/api/v1' }
    if (ignores) read.ignores = ignores
    if (files.length) read.files = files
    if (warnings.length) read.warnings = [...read.warnings, ...warnings]
    return read
  }

  return {
    filesRead: (call: Call, body: ChatInput, request: Request) =>
      filesRead(call, { ...body, model: baseRulesOf(request, call.caller).model ?? body.model }),

    /** Names of the members that have no effect at this address, or with this key. */
    ignored: ({ caller }: Call, input: ChatInput, request: Request): string[] =>
      ignoredNamesIn(input, baseRulesOf(request, caller).honours ? HONOURED_MEMBERS : undefined),

    /** Throws 400 `empty_prompt`, and whatever the pipeline throws. */
    complete(call: Call, input: Ready, request: Request): Promise<ChatCompletion> {
      return completions.pipeline.complete(call, read(call, input, request))
    },

    stream(call: Call, input: Ready, sent: Request): AnswerStream {
      const request = read(call, input, sent)
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
