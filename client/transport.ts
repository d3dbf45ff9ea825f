/** How the client reaches a server. */
export type ClientOptions = {
  /** A key, `svc_sk_…`; SVC_API_KEY by default. */
  apiKey?: string
  /** Where the server is, such as `https://svc.example`; SVC_BASE_URL by default, then this machine. */
  baseUrl?: string
  /** How long one try may take; 30,000 ms by default. A stream may go on for as long as it likes. */
  timeoutMs?: number
  /**
   * Tries after the first, on 429, on 5xx and where no answer came; 2 by default. Streams and sound, which no
   * Idempotency-Key covers, are tried again only where nothing was done: refused by the server, or not reached.
   */
  retries?: number
  /** Instead of the global `fetch`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/** Of one call. */
export type CallOptions = {
  signal?: AbortSignal
  timeoutMs?: number
  /** Makes a retry of yours safe too; without it the client makes one for each call (docs/api.md 1.7). */
  idempotencyKey?: string
}

export type Call = CallOptions & {
  query?: object | undefined
  body?: object | undefined
  /** The caller reads the answer itself, and the time-out ends with its headers. */
  streams?: boolean
  /** A second try may be work done twice: no Idempotency-Key covers it (docs/api.md 1.7). */
  unkeyed?: boolean
}

/**
 * An answer that is no success, or none at all: then `status` is 0 and `code` says `timeout` or `network_error`. With a
 * success that is no answer of this API, such as the page of a proxy, `code` says `invalid_answer`.
 */
export class SvcError extends Error {
  override name = 'SvcError'
  constructor(
    message: string,
    readonly status: number,
    readonly code: string,
    readonly type: string,
    readonly requestId: string | null,
    readonly retryAfterS: number | null = null,
    readonly details: readonly { path: string; message: string }[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

const DELAYS_MS = [1_000, 2_000, 4_000, 8_000]
const MAX_WAIT_S = 60
const environment = (globalThis as { process?: { env: Record<string, string | undefined> } }).process?.env ?? {}

/** Sends requests: adds the key, tries again where that is safe, and turns refusals into {@link SvcError}. */
export function createTransport(options: ClientOptions) {
  const key = options.apiKey ?? environment.SVC_API_KEY
  const base = (options.baseUrl ?? environment.SVC_BASE_URL ?? 'http://127.0.0.1:3400').replace(/\/(api\/v1\/?)?$/, '')
  const { timeoutMs = 30_000, retries = 2 } = options
  const call = options.fetch ?? ((url, init) => fetch(url, init))

  async function once(method: string, path: string, input: Call, idempotencyKey: string | null): Promise<Response> {
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), input.timeoutMs ?? timeoutMs)
    const isForm = input.body instanceof FormData
    try {
      const answer = await call(`${base}/api/v1${path}${queryOf(input.query)}`, {
        method,
        headers: {
          ...(key ? { authorization: `Bearer ${key}` } : {}),
          ...(idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}),
          ...(input.body && !isForm ? { 'content-type': 'application/json' } : {}),
        },
        ...(input.body ? { body: isForm ? (input.body as FormData) : JSON.stringify(input.body) } : {}),
        signal: input.signal ? AbortSignal.any([input.signal, late.signal]) : late.signal,
      })
      if (!answer.ok) throw await refusalOf(answer)
      // The time-out holds for the body as well, but not for a stream.
      return input.streams ? answer : new Response(await answer.arrayBuffer(), answer)
    } catch (error) {
      if (error instanceof SvcError || input.signal?.aborted) throw error
      const [code, words] = late.signal.aborted
        ? ['timeout', `No answer came within ${(input.timeoutMs ?? timeoutMs) / 1_000} s.`]
        : ['network_error', `${base} cannot be reached.`]
      throw new SvcError(words!, 0, code!, 'connection_error', null, null, [], { cause: error })
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    base,
    key: key ?? null,

    /** One call. Throws {@link SvcError}, and what the caller's own signal says. */
    async send(method: string, path: string, input: Call = {}): Promise<Response> {
      const idempotencyKey = method === 'POST' ? (input.idempotencyKey ?? crypto.randomUUID()) : null
      for (let tries = 0; ; tries++) {
        try {
          return await once(method, path, input, idempotencyKey)
        } catch (error) {
          if (!(error instanceof SvcError) || tries >= retries || !mayTryAgain(error, input)) throw error
          await sleep(waitOf(error, tries), input.signal)
        }
      }
    },
  }
}

function mayTryAgain(error: SvcError, { unkeyed, streams }: Call): boolean {
  const { status, code, cause } = error
  if (status === 429) return true
  if (!unkeyed && !streams) return status === 0 || status >= 500
  // A proxy's own page, a time-out or a line that broke may hide work that was done.
  return status === 503 ? code !== 'unknown_error' : status === 0 && NOT_REACHED.test(reasonOf(cause))
}

const NOT_REACHED = /ECONNREFUSED|ConnectionRefused|ENOTFOUND|EAI_AGAIN/
/** `fetch` of Node says it in the error's cause, that of Bun in the error. */
const reasonOf = (error: unknown): string =>
  error instanceof Error ? `${(error as { code?: string }).code} ${reasonOf(error.cause)}` : ''

const waitOf = ({ retryAfterS }: SvcError, tries: number): number =>
  retryAfterS === null ? DELAYS_MS[Math.min(tries, DELAYS_MS.length - 1)]! : Math.min(retryAfterS, MAX_WAIT_S) * 1_000

async function refusalOf(answer: Response): Promise<SvcError> {
  const text = await answer.text()
  const { status, headers } = answer
  const wait = Number(headers.get('retry-after') ?? Number.NaN)
  const parsed = parse(text)
  const { message, code, type, request_id, details } = parsed?.error ?? {}
  return new SvcError(
    message ?? `The server answered with status ${status}.`,
    status,
    code ?? 'unknown_error',
    type ?? 'api_error',
    request_id ?? headers.get('x-request-id'),
    Number.isFinite(wait) ? wait : null,
    details ?? [],
  )
}

/** The body of a success. Throws {@link SvcError} for what is no JSON. */
export async function jsonOf(answer: Response): Promise<unknown> {
  const text = await answer.text()
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalidAnswer(answer, text, error)
  }
}

const MAX_SHOWN = 120

/** The error of a success that is not what was asked for; it quotes the beginning of what came. */
export function invalidAnswer({ status, headers }: Response, text: string, cause?: unknown): SvcError {
  const what = headers.get('content-type') ?? 'no content-type'
  const began = text.slice(0, MAX_SHOWN)
  const message = `The server answered with status ${status}, but not as svc does (${what}): ${began || 'nothing'}`
  return new SvcError(message, status, 'invalid_answer', 'api_error', headers.get('x-request-id'), null, [], { cause })
}

function parse(text: string): { error?: Record<string, never> } | null {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function queryOf(query: object = {}): string {
  const words = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  return words.length ? `?${new URLSearchParams(words.map(([name, value]) => [name, String(value)]))}` : ''
}

/** Waits, unless the caller gives up meanwhile. */
const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const done = () => {
      signal?.removeEventListener('abort', leave)
      resolve()
    }
    const timer = setTimeout(done, ms)
    const leave = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', leave, { once: true })
  })
