import type { ChatCompletion, Completion } from '../src/completions/schema'
import { eventsOf, type StreamEvent } from './events'
import { type CallOptions, type ClientOptions, createTransport, jsonOf, SvcError } from './transport'
import type { Asked, Done, Routes, Sent } from './types'

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

type R = Routes
const id = encodeURIComponent

/** Waits between two looks at a job. */
const POLL_MS = 1_000
const MODE_S = 120_000

/**
 * The client for users: every method is one route, with the types of the server. It tries again where that is safe,
 * and makes an Idempotency-Key for every POST that has one, so that nothing happens twice (contract 23.1).
 */
export function createSvc(options: ClientOptions = {}) {
  const transport = createTransport(options)
  const json = async <T>(method: string, path: string, order: object = {}): Promise<T> =>
    (await jsonOf(await transport.send(method, path, order))) as T
  const get = <Route>(path: string, query?: Asked<Route>, call?: CallOptions) =>
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

  const jobs = {
    list: (query?: Asked<R['jobs']['get']>) => get<R['jobs']['get']>('/jobs', query),
    get: (job: string) => get<R['jobs'][':id']['get']>(`/jobs/${id(job)}`),
    cancel: (job: string) => post<R['jobs'][':id']['cancel']['post']>(`/jobs/${id(job)}/cancel`),
    /** Looks until the job has ended, or `withinMs` have passed (ten minutes by default). */
    async wait(job: string, { withinMs = 600_000, everyMs = POLL_MS } = {}) {
      const until = performance.now() + withinMs
      for (;;) {
        const found = await jobs.get(job)
        if (found.status === 'completed' || found.status === 'failed') return found
        if (performance.now() > until) throw new SvcError(`${job} has not ended yet.`, 0, 'timeout', 'timeout', null)
        await new Promise((resolve) => setTimeout(resolve, everyMs))
      }
    },
  }

  return {
    complete: (order: Sent<R['completions']['post']>, call?: CallOptions) =>
      json<Completion>('POST', '/completions', { ...long(call), body: order }),
    /** The answer as it is made: `meta`, `token`, `tool`, `artifact` and `done` events, or `error`. */
    stream: (order: Sent<R['completions']['post']>, call?: CallOptions) => stream('/completions', order, call),
    chat: (order: Sent<R['chat']['completions']['post']>, call?: CallOptions) =>
      json<ChatCompletion>('POST', '/chat/completions', { ...long(call), body: order }),
    streamChat: (order: Sent<R['chat']['completions']['post']>, call?: CallOptions) =>
      stream('/chat/completions', order, call),
    code: (order: Sent<R['code']['post']>, call?: CallOptions) => post<R['code']['post']>('/code', order, long(call)),
    document: (order: Sent<R['documents']['post']>, call?: CallOptions) =>
      post<R['documents']['post']>('/documents', order, long(call)),
    image: (order: Sent<R['images']['post']>, call?: CallOptions) =>
      post<R['images']['post']>('/images', order, long(call)),
    video: (order: Sent<R['video']['post']>, call?: CallOptions) => post<R['video']['post']>('/video', order, call),
    research: (order: Sent<R['research']['post']>, call?: CallOptions) =>
      post<R['research']['post']>('/research', order, call),
    /** The recording as MP3 bytes. */
    speak: async (order: Sent<R['audio']['tts']['post']>, call?: CallOptions) =>
      new Uint8Array(
        await (await transport.send('POST', '/audio/tts', { ...long(call), body: order, unkeyed: true })).arrayBuffer(),
      ),
    transcribe(file: Blob, language?: string, call?: CallOptions) {
      const form = new FormData()
      form.append('file', file, 'recording')
      if (language) form.append('language', language)
      return json<Done<R['audio']['stt']['post']>>('POST', '/audio/stt', { ...long(call), body: form, unkeyed: true })
    },
    jobs,
    models: async () => (await get<R['models']['get']>('/models')).models,
    model: (model: string) => get<R['models'][':id']['get']>(`/models/${id(model)}`),
    tools: async () => (await get<R['tools']['get']>('/tools')).tools,
    skills: {
      list: async (query?: Asked<R['skills']['get']>) => (await get<R['skills']['get']>('/skills', query)).skills,
      get: (skill: string) => get<R['skills'][':id']['get']>(`/skills/${id(skill)}`),
      create: (order: Sent<R['skills']['create']['post']>) =>
        post<R['skills']['create']['post']>('/skills/create', order),
      install: (skill: Sent<R['skills']['post']>) => post<R['skills']['post']>('/skills', skill),
      uninstall: (skill: Sent<R['skills']['delete']>) => change<R['skills']['delete']>('DELETE', '/skills', skill),
      submit: (order: Sent<R['skills']['submit']['post']>) =>
        post<R['skills']['submit']['post']>('/skills/submit', order),
      submissions: async () => (await get<R['skills']['submissions']['get']>('/skills/submissions')).submissions,
      submission: async (one: string) =>
        (await get<R['skills']['submissions'][':id']['get']>(`/skills/submissions/${id(one)}`)).submission,
      versions: async (skill: string) =>
        (await get<R['skills'][':id']['versions']['get']>(`/skills/${id(skill)}/versions`)).versions,
    },
    workflows: {
      list: async () => (await get<R['workflows']['get']>('/workflows')).workflows,
      get: async (one: string) => (await get<R['workflows'][':id']['get']>(`/workflows/${id(one)}`)).workflow,
      create: async (order: Sent<R['workflows']['post']>) =>
        (await post<R['workflows']['post']>('/workflows', order)).workflow,
      update: async (one: string, order: Sent<R['workflows'][':id']['patch']>) =>
        (await change<R['workflows'][':id']['patch']>('PATCH', `/workflows/${id(one)}`, order)).workflow,
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
      create: (order: Sent<R['webhooks']['post']>) => post<R['webhooks']['post']>('/webhooks', order),
      update: (one: string, order: Sent<R['webhooks'][':id']['patch']>) =>
        change<R['webhooks'][':id']['patch']>('PATCH', `/webhooks/${id(one)}`, order),
      delete: (one: string) => change<R['webhooks'][':id']['delete']>('DELETE', `/webhooks/${id(one)}`),
      test: (one: string) => post<R['webhooks'][':id']['test']['post']>(`/webhooks/${id(one)}/test`, {}),
      deliveries: async (one: string) =>
        (await get<R['webhooks'][':id']['deliveries']['get']>(`/webhooks/${id(one)}/deliveries`)).deliveries,
    },
    hooks: {
      list: async () => (await get<R['hooks']['get']>('/hooks')).hooks,
      create: (order: Sent<R['hooks']['post']>) => post<R['hooks']['post']>('/hooks', order),
      delete: (one: string) => change<R['hooks'][':id']['delete']>('DELETE', `/hooks/${id(one)}`),
      executions: async (one: string) =>
        (await get<R['hooks'][':id']['executions']['get']>(`/hooks/${id(one)}/executions`)).executions,
    },
    canvases: {
      list: async () => (await get<R['evi']['canvases']['get']>('/evi/canvases')).canvases,
      get: async (one: string) => (await get<R['evi']['canvases'][':id']['get']>(`/evi/canvases/${id(one)}`)).canvas,
      create: (order: Sent<R['evi']['canvases']['post']>) => post<R['evi']['canvases']['post']>('/evi/canvases', order),
      delete: (one: string) => change<R['evi']['canvases'][':id']['delete']>('DELETE', `/evi/canvases/${id(one)}`),
    },
    browser: {
      sessions: async () => (await get<R['browser']['sessions']['get']>('/browser/sessions')).sessions,
      open: (order: object = {}) => post<R['browser']['sessions']['post']>('/browser/sessions', order, long()),
      close: (one: string) =>
        change<R['browser']['sessions'][':id']['delete']>('DELETE', `/browser/sessions/${id(one)}`),
    },
    publish: (event: Sent<R['events']['post']>) => post<R['events']['post']>('/events', event),
    usage: () => get<R['usage']['get']>('/usage'),
    settings: () => get<R['settings']['get']>('/settings'),
    rateLimits: () => get<R['rate-limits']['get']>('/rate-limits'),
    health: () => get<R['health']['get']>('/health'),
    /** Any other route: `request('GET', '/audit', { query: { limit: 10 } })`. */
    request: <T = unknown>(method: string, path: string, order: CallOptions & { query?: object; body?: object } = {}) =>
      json<T>(method, path, order),

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

function hintOf({ status }: SvcError): { hint?: string } {
  if (status === 401) return { hint: 'Check SVC_API_KEY: keys of a server begin with svc_sk_.' }
  if (status === 403) return { hint: 'The key works, but lacks the scope completions.' }
  return status === 0 ? { hint: 'Check SVC_BASE_URL, and whether the server runs.' } : {}
}
