import { createParser } from 'eventsource-parser'

/** A failed call. `status` 0 and code `offline` if the server was not reached. */
export class Failure extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** Seconds after which a retry makes sense. */
    readonly retryAfter: number | null = null,
    readonly requestId: string | null = null,
    /** The invalid parts of the request, with their problems. */
    readonly details: readonly { path: string; message: string }[] = [],
  ) {
    super(message)
  }
}

export type Input = { method?: string; body?: unknown; headers?: Record<string, string>; signal?: AbortSignal }

const JSON_TYPE = { 'content-type': 'application/json' }

/** Calls the API of this origin. Throws `Failure`. */
export async function call(path: string, { method = 'GET', body, headers, signal }: Input = {}): Promise<Response> {
  const response = await window
    .fetch(path, {
      method,
      cache: 'no-store',
      headers: { ...(body === undefined ? {} : JSON_TYPE), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    })
    .catch((error: unknown) => {
      if (signal?.aborted) throw error
      throw new Failure(0, 'offline', 'The server cannot be reached.')
    })
  if (response.ok) return response
  type Detail = { path: string; message: string }
  // The Messages format has its details in another form, and the code among them.
  type Refusal = { code?: string; message: string; request_id?: string; details?: Detail[] | { error_code?: string } }
  const { error, request_id } = (await response.json().catch(() => ({}))) as { error?: Refusal; request_id?: string }
  const details = error?.details
  const wait = Number(response.headers.get('retry-after'))
  throw new Failure(
    response.status,
    error?.code ?? (Array.isArray(details) ? undefined : details?.error_code) ?? 'server_error',
    error?.message ?? 'Something went wrong.',
    wait || null,
    error?.request_id ?? request_id,
    Array.isArray(details) ? details : [],
  )
}

/** Calls the API and returns the JSON of the answer. */
export const json = async <T>(path: string, input?: Input): Promise<T> => (await call(path, input)).json() as Promise<T>

export type ServerEvent = { id: string | null; name: string; data: unknown }

/** Reads the server-sent events of an answer. Comments only keep it alive. Skips data that is not JSON. */
export async function readEvents(
  response: Response,
  take: (event: ServerEvent) => void,
  heard: () => void = () => {},
): Promise<void> {
  const parser = createParser({
    onEvent({ id, event, data }) {
      let value: unknown
      try {
        value = JSON.parse(data)
      } catch {
        return
      }
      take({ id: id ?? null, name: event ?? 'message', data: value })
    },
  })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    heard()
    parser.feed(value)
  }
}

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 8_000

/** Delay before the next retry. Part of it differs between pages, so that not all reconnect at once. */
export function backoff(tries: number): number {
  const max = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries)
  return max / 2 + ((performance.now() * 7919) % (max / 2))
}
