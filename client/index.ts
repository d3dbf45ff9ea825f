import type { ChatCompletion, Completion } from '../src/completions/schema'
import { eventsOf, type StreamEvent } from './events'
import { type CallOptions, type ClientOptions, createTransport, jsonOf, SvcError } from './transport'
import type { Done, Request, Routes, Sent } from './types'

export type { StreamEvent } from './events'
export { type CallOptions, type ClientOptions, SvcError } from './transport'
export { verifyWebhook } from './webhooks'

/** What `verify` finds: whether the server is well, and whether it takes the key. */
export type Verified = {
  healthy: boolean
  authenticated: boolean
  baseUrl: string
  latencyMs: number
  modelCount?: number
  version?: string
  error?: string
  hint?: string
}

export type Svc = ReturnType<typeof createSvc>

/** What may be asked of a transcript. */
type Hearing = { response_format?: 'json' | 'verbose_json'; prompt?: string; temperature?: number }

type R = Routes
const id = encodeURIComponent

/** Waits between two looks at a job. */
const POLL_MS = 1_000
const MODE_S = 120_000

/**
 * The client for users: every method is one route, with the types of the server. It tries again where that is safe,
 * and makes an Idempotency-Key for every POST that has one, so that nothing happens twice (docs/api.md 23.1).
 */
export function createSvc(options: ClientOptions = {}) {
  const transport = createTransport(options)
  const json = async <T>(method: string, path: string, input: object = {}): Promise<T> =>
    (await jsonOf(await transport.send(method, path, input))) as T
  const get = <Route>(path: string, query?: Request<Route>, call?: CallOptions) =>
    json<Done<Route>>('GET', path, { ...call, query })
  const post = <Route>(path: string, body?: Sent<Route> | object, call?: CallOptions) =>
    json<Done<Route>>('POST', path, { ...call, body })
  const change = <Route>(method: 'PUT' | 'PATCH' | 'DELETE', path: string, body?: Sent<Route> | object) =>
    json<Done<Route>>(method, path, { body })
  /** Engines may take longer than other calls. */
  const long = (call?: CallOptions): CallOptions => ({ timeoutMs: MODE_S, ...call })

  async function* stream(path: string, body: object, call?: CallOptions): AsyncGenerator<StreamEvent> {
    const answer = await transport.send('POST', path, { ...long(call), body: { ...body, stream: true }, streams: true })
    yield* eventsOf(answer)
  }

  /** What answers with bytes. No Idempotency-Key covers such a POST. */
  const bytes = async (method: string, path: string, input: object = {}): Promise<Uint8Array<ArrayBuffer>> =>
    new Uint8Array(await (await transport.send(method, path, { ...input, unkeyed: method === 'POST' })).arrayBuffer())
  /** A form of files and fields; no Idempotency-Key covers it. */
  const sendForm = async <T>(path: string, parts: readonly (readonly [string, unknown])[], call?: CallOptions) => {
    const form = new FormData()
    for (const [name, part] of parts) {
      if (part instanceof Blob) form.append(name, part, part instanceof File ? part.name : 'file')
      else if (part !== undefined && part !== null) form.append(name, String(part))
    }
    return json<T>('POST', path, { ...long(call), body: form, unkeyed: true })
  }

  const jobs = {
    list: (query?: Request<R['jobs']['get']>) => get<R['jobs']['get']>('/jobs', query),
    get: (job: string) => get<R['jobs'][':id']['get']>(`/jobs/${id(job)}`),
    cancel: (job: string) => post<R['jobs'][':id']['cancel']['post']>(`/jobs/${id(job)}/cancel`),
    /** Looks until the job has ended, or `withinMs` have passed (ten minutes by default). */
    wait: (job: string, { withinMs = 600_000, everyMs = POLL_MS } = {}) =>
      ended(job, () => jobs.get(job), ['completed', 'failed'], { withinMs, everyMs }),
  }

  const batches = {
    create: (input: Sent<R['batches']['post']>, call?: CallOptions) =>
      post<R['batches']['post']>('/batches', input, call),
    list: (query?: Request<R['batches']['get']>) => get<R['batches']['get']>('/batches', query),
    get: (batch: string) => get<R['batches'][':id']['get']>(`/batches/${id(batch)}`),
    cancel: (batch: string) => post<R['batches'][':id']['cancel']['post']>(`/batches/${id(batch)}/cancel`),
    /** Looks until the batch has ended, or `withinMs` have passed (an hour by default). */
    wait: (batch: string, { withinMs = 3_600_000, everyMs = POLL_MS } = {}) =>
      ended(batch, () => batches.get(batch), ['completed', 'failed', 'expired', 'cancelled'], { withinMs, everyMs }),
  }

  return {
    complete: (input: Sent<R['completions']['post']>, call?: CallOptions) =>
      json<Completion>('POST', '/completions', { ...long(call), body: input }),
    /** The answer as it is made: `meta`, `token`, `tool`, `artifact` and `done` events, or `error`. */
    stream: (input: Sent<R['completions']['post']>, call?: CallOptions) => stream('/completions', input, call),
    chat: (input: Sent<R['chat']['completions']['post']>, call?: CallOptions) =>
      json<ChatCompletion>('POST', '/chat/completions', { ...long(call), body: input }),
    streamChat: (input: Sent<R['chat']['completions']['post']>, call?: CallOptions) =>
      stream('/chat/completions', input, call),
    responses: {
      create: (input: Sent<R['responses']['post']>, call?: CallOptions) =>
        post<R['responses']['post']>('/responses', input, long(call)),
      stream: (input: Sent<R['responses']['post']>, call?: CallOptions) => stream('/responses', input, call),
      get: (response: string) => get<R['responses'][':id']['get']>(`/responses/${id(response)}`),
      delete: (response: string) => change<R['responses'][':id']['delete']>('DELETE', `/responses/${id(response)}`),
      cancel: (response: string) => post<R['responses'][':id']['cancel']['post']>(`/responses/${id(response)}/cancel`),
      inputItems: (response: string) =>
        get<R['responses'][':id']['input_items']['get']>(`/responses/${id(response)}/input_items`),
      inputTokens: (input: Sent<R['responses']['input_tokens']['post']>) =>
        post<R['responses']['input_tokens']['post']>('/responses/input_tokens', input),
    },
    messages: {
      create: (input: Sent<R['messages']['post']>, call?: CallOptions) =>
        post<R['messages']['post']>('/messages', input, long(call)),
      stream: (input: Sent<R['messages']['post']>, call?: CallOptions) => stream('/messages', input, call),
      countTokens: (input: Sent<R['messages']['count_tokens']['post']>) =>
        post<R['messages']['count_tokens']['post']>('/messages/count_tokens', input),
    },
    /** Vectors of texts. */
    embed: (input: Sent<R['embeddings']['post']>, call?: CallOptions) =>
      post<R['embeddings']['post']>('/embeddings', input, long(call)),
    moderate: (input: Sent<R['moderations']['post']>, call?: CallOptions) =>
      post<R['moderations']['post']>('/moderations', input, call),
    images: {
      generate: (input: Sent<R['images']['generations']['post']>, call?: CallOptions) =>
        post<R['images']['generations']['post']>('/images/generations', input, long(call)),
      /** Changes pictures; a mask, PNG with transparent places, says where. */
      edit: (
        { images, mask, ...input }: { images: Blob[]; mask?: Blob } & Sent<R['images']['generations']['post']>,
        call?: CallOptions,
      ) =>
        sendForm<Done<R['images']['edits']['post']>>(
          '/images/edits',
          [...Object.entries(input), ...images.map((image) => ['image[]', image] as const), ['mask', mask]],
          call,
        ),
    },
    audio: {
      /** The sound, as `response_format` says. */
      speech: (input: Sent<R['audio']['speech']['post']>, call?: CallOptions) =>
        bytes('POST', '/audio/speech', { ...long(call), body: input }),
      /** The words of a recording, in JSON. */
      transcribe: (file: Blob, input: Hearing & { language?: string } = {}, call?: CallOptions) =>
        sendForm<Done<R['audio']['transcriptions']['post']>>(
          '/audio/transcriptions',
          [...Object.entries(input), ['file', file]],
          call,
        ),
      /** The same in English. */
      translate: (file: Blob, input: Hearing = {}, call?: CallOptions) =>
        sendForm<Done<R['audio']['translations']['post']>>(
          '/audio/translations',
          [...Object.entries(input), ['file', file]],
          call,
        ),
    },
    code: (input: Sent<R['code']['post']>, call?: CallOptions) => post<R['code']['post']>('/code', input, long(call)),
    document: (input: Sent<R['documents']['post']>, call?: CallOptions) =>
      post<R['documents']['post']>('/documents', input, long(call)),
    image: (input: Sent<R['images']['post']>, call?: CallOptions) =>
      post<R['images']['post']>('/images', input, long(call)),
    video: (input: Sent<R['video']['post']>, call?: CallOptions) => post<R['video']['post']>('/video', input, call),
    research: (input: Sent<R['research']['post']>, call?: CallOptions) =>
      post<R['research']['post']>('/research', input, call),
    /** The recording as MP3 bytes. */
    speak: (input: Sent<R['audio']['tts']['post']>, call?: CallOptions) =>
      bytes('POST', '/audio/tts', { ...long(call), body: input }),
    transcribe: (file: Blob, language?: string, call?: CallOptions) =>
      sendForm<Done<R['audio']['stt']['post']>>(
        '/audio/stt',
        [
          ['language', language],
          ['file', file],
        ],
        call,
      ),
    files: {
      /** `purpose` is what it is for: `batch`, `user_data` or `vision`. */
      create: (file: Blob, purpose: string, call?: CallOptions) =>
        sendForm<Done<R['files']['post']>>(
          '/files',
          [
            ['purpose', purpose],
            ['file', file],
          ],
          call,
        ),
      list: (query?: Request<R['files']['get']>) => get<R['files']['get']>('/files', query),
      get: (file: string) => get<R['files'][':id']['get']>(`/files/${id(file)}`),
      content: (file: string) => bytes('GET', `/files/${id(file)}/content`),
      delete: (file: string) => change<R['files'][':id']['delete']>('DELETE', `/files/${id(file)}`),
    },
    batches,
    jobs,
    models: async () => (await get<R['models']['get']>('/models')).models,
    model: (model: string) => get<R['models'][':id']['get']>(`/models/${id(model)}`),
    tools: async () => (await get<R['tools']['get']>('/tools')).tools,
    skills: {
      list: async (query?: Request<R['skills']['get']>) => (await get<R['skills']['get']>('/skills', query)).skills,
      get: (skill: string) => get<R['skills'][':id']['get']>(`/skills/${id(skill)}`),
      create: (input: Sent<R['skills']['create']['post']>) =>
        post<R['skills']['create']['post']>('/skills/create', input),
      install: (skill: Sent<R['skills']['post']>) => post<R['skills']['post']>('/skills', skill),
      uninstall: (skill: Sent<R['skills']['delete']>) => change<R['skills']['delete']>('DELETE', '/skills', skill),
      submit: (input: Sent<R['skills']['submit']['post']>) =>
        post<R['skills']['submit']['post']>('/skills/submit', input),
      submissions: async () => (await get<R['skills']['submissions']['get']>('/skills/submissions')).submissions,
      submission: async (one: string) =>
        (await get<R['skills']['submissions'][':id']['get']>(`/skills/submissions/${id(one)}`)).submission,
      versions: async (skill: string) =>
        (await get<R['skills'][':id']['versions']['get']>(`/skills/${id(skill)}/versions`)).versions,
    },
    workflows: {
      list: async () => (await get<R['workflows']['get']>('/workflows')).workflows,
      get: async (one: string) => (await get<R['workflows'][':id']['get']>(`/workflows/${id(one)}`)).workflow,
      create: async (input: Sent<R['workflows']['post']>) =>
        (await post<R['workflows']['post']>('/workflows', input)).workflow,
      update: async (one: string, input: Sent<R['workflows'][':id']['patch']>) =>
        (await change<R['workflows'][':id']['patch']>('PATCH', `/workflows/${id(one)}`, input)).workflow,
      delete: (one: string) => change<R['workflows'][':id']['delete']>('DELETE', `/workflows/${id(one)}`),
      run: (one: string, triggerData: object = {}) =>
        post<R['workflows'][':id']['run']['post']>(`/workflows/${id(one)}/run`, { triggerData }),
      runs: async (one: string) => (await get<R['workflows'][':id']['runs']['get']>(`/workflows/${id(one)}/runs`)).runs,
    },
    conversations: {
      list: async () => (await get<R['conversations']['get']>('/conversations')).conversations,
      get: async (one: string) =>
        (await get<R['conversations'][':id']['get']>(`/conversations/${id(one)}`)).conversation,
      delete: (one: string) => change<R['conversations'][':id']['delete']>('DELETE', `/conversations/${id(one)}`),
    },
    webhooks: {
      list: async () => (await get<R['webhooks']['get']>('/webhooks')).webhooks,
      create: (input: Sent<R['webhooks']['post']>) => post<R['webhooks']['post']>('/webhooks', input),
      update: (one: string, input: Sent<R['webhooks'][':id']['patch']>) =>
        change<R['webhooks'][':id']['patch']>('PATCH', `/webhooks/${id(one)}`, input),
      delete: (one: string) => change<R['webhooks'][':id']['delete']>('DELETE', `/webhooks/${id(one)}`),
      test: (one: string) => post<R['webhooks'][':id']['test']['post']>(`/webhooks/${id(one)}/test`, {}),
      deliveries: async (one: string) =>
        (await get<R['webhooks'][':id']['deliveries']['get']>(`/webhooks/${id(one)}/deliveries`)).deliveries,
    },
    hooks: {
      list: async () => (await get<R['hooks']['get']>('/hooks')).hooks,
      create: (input: Sent<R['hooks']['post']>) => post<R['hooks']['post']>('/hooks', input),
      delete: (one: string) => change<R['hooks'][':id']['delete']>('DELETE', `/hooks/${id(one)}`),
      executions: async (one: string) =>
        (await get<R['hooks'][':id']['executions']['get']>(`/hooks/${id(one)}/executions`)).executions,
    },
    canvases: {
      list: async () => (await get<R['evi']['canvases']['get']>('/evi/canvases')).canvases,
      get: async (one: string) => (await get<R['evi']['canvases'][':id']['get']>(`/evi/canvases/${id(one)}`)).canvas,
      create: (input: Sent<R['evi']['canvases']['post']>) => post<R['evi']['canvases']['post']>('/evi/canvases', input),
      delete: (one: string) => change<R['evi']['canvases'][':id']['delete']>('DELETE', `/evi/canvases/${id(one)}`),
    },
    browser: {
      sessions: async () => (await get<R['browser']['sessions']['get']>('/browser/sessions')).sessions,
      open: (input: object = {}) => post<R['browser']['sessions']['post']>('/browser/sessions', input, long()),
      close: (one: string) =>
        change<R['browser']['sessions'][':id']['delete']>('DELETE', `/browser/sessions/${id(one)}`),
    },
    publish: (event: Sent<R['events']['post']>) => post<R['events']['post']>('/events', event),
    usage: () => get<R['usage']['get']>('/usage'),
    settings: () => get<R['settings']['get']>('/settings'),
    rateLimits: () => get<R['rate-limits']['get']>('/rate-limits'),
    health: () => get<R['health']['get']>('/health'),
    /** Any other route: `request('GET', '/audit', { query: { limit: 10 } })`. */
    request: <T = unknown>(method: string, path: string, input: CallOptions & { query?: object; body?: object } = {}) =>
      json<T>(method, path, input),

    /** `GET /health`, then `GET /models`; it never throws, and gives a hint when the key is not taken. */
    async verify(): Promise<Verified> {
      const began = performance.now()
      const found = { healthy: false, authenticated: false, baseUrl: transport.base, latencyMs: 0 }
      const done = (more: Partial<Verified>) => ({
        ...found,
        ...more,
        latencyMs: Math.round(performance.now() - began),
      })
      try {
        const { status, version } = await get<R['health']['get']>('/health')
        Object.assign(found, { healthy: status !== undefined && status !== 'down', version })
        const { models } = await get<R['models']['get']>('/models')
        return done({ authenticated: true, modelCount: models.length })
      } catch (error) {
        if (!(error instanceof SvcError)) throw error
        return done({ error: error.message, ...hintOf(error) })
      }
    },
  }
}

/** Looks at a thing until its status is one of `ends`. Throws an {@link SvcError} after `withinMs`. */
async function ended<Thing extends { status: string }>(
  name: string,
  look: () => Promise<Thing>,
  ends: readonly string[],
  { withinMs, everyMs }: { withinMs: number; everyMs: number },
): Promise<Thing> {
  const until = performance.now() + withinMs
  for (;;) {
    const found = await look()
    if (ends.includes(found.status)) return found
    if (performance.now() > until) throw new SvcError(`${name} has not ended yet.`, 0, 'timeout', 'timeout', null)
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}

function hintOf({ status }: SvcError): { hint?: string } {
  if (status === 401) return { hint: 'Check SVC_API_KEY: keys of a server begin with svc_sk_.' }
  if (status === 403) return { hint: 'The key works, but lacks the scope completions.' }
  return status === 0 ? { hint: 'Check SVC_BASE_URL, and whether the server runs.' } : {}
}
