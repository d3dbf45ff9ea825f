import { createParser } from 'eventsource-parser'
import { timeGivenTo } from '../support/effort'

/**
 * What came of a request: acknowledged (a whole answer, or a stream to its terminal frame), refused
 * with a status, or unknown because the connection ended first.
 */
export type Outcome<T> =
  | { is: 'acked'; requestId: string; value: T; text: string; isReplay: boolean }
  | { is: 'refused'; status: number; text: string }
  | { is: 'unknown' }

// biome-ignore lint/suspicious/noExplicitAny: answers of every route pass through here
export type Json = any

export type Client = ReturnType<typeof createClient>

const UNKNOWN = { is: 'unknown' } as const
/** How long a server that has just started may say that it cannot answer yet. */
const BUSY_MS = 60_000
const ASK_AGAIN_MS = 50

/** A server that has just started, and the credential of its clients. */
export type Started = { url: string; key: string; pid: number }

/**
 * `url` is asked for before each request, so that a client can go from one node to another. `isAway`: which refusals
 * say only that nobody can know whether it happened, as of a database that is away.
 */
export function createClient(
  url: string | (() => string),
  credential: string,
  isAway: (status: number, text: string) => boolean = () => false,
) {
  const base = () => (typeof url === 'string' ? url : url())
  return { send, stream, deliver }

  function refused(status: number, text: string): Outcome<never> {
    return isAway(status, text) ? UNKNOWN : { is: 'refused', status, text }
  }

  /** Bytes somebody signed, with the headers that say so and no credential. */
  async function deliver(path: string, body: string, headers: Record<string, string>): Promise<Outcome<Json>> {
    try {
      const sent = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
      return await read(await fetch(`${base()}/api/v1/${path}`, sent))
    } catch {
      return UNKNOWN
    }
  }

  /** `key` is an Idempotency-Key. */
  async function send(method: string, path: string, body?: unknown, key?: string): Promise<Outcome<Json>> {
    try {
      return await read(await request(method, path, body, key))
    } catch {
      return UNKNOWN
    }
  }

  async function read(response: Response): Promise<Outcome<Json>> {
    const text = await response.text()
    if (!response.ok) return refused(response.status, text)
    const isReplay = response.headers.has('x-idempotent-replay')
    const value = JSON.parse(text)
    return { is: 'acked', requestId: value.request_id ?? response.headers.get('x-request-id'), value, text, isReplay }
  }

  /** Reads a stream to its end; acknowledged once its last frame (`done`, or `[DONE]`) has come. */
  async function stream(path: string, body: object): Promise<Outcome<{ frames: Json[] }>> {
    const frames: Json[] = []
    let ended = false
    let failed: string | null = null
    const parser = createParser({
      onEvent({ event, data }) {
        if (event === 'error') failed = data
        if (event === 'done' || data === '[DONE]') ended = true
        if (data === '[DONE]') return
        frames.push(JSON.parse(data))
        if (frames.at(-1).error) failed = data
      },
    })
    try {
      const response = await request('POST', path, { ...body, stream: true })
      if (!response.ok) return refused(response.status, await response.text())
      const decoder = new TextDecoder()
      for await (const bytes of response.body!) parser.feed(decoder.decode(bytes, { stream: true }))
      if (failed) return refused(200, failed)
      const requestId = response.headers.get('x-request-id')!
      return ended ? { is: 'acked', requestId, value: { frames }, text: '', isReplay: false } : UNKNOWN
    } catch {
      return UNKNOWN
    }
  }

  function request(method: string, path: string, body?: unknown, key?: string): Promise<Response> {
    return fetch(`${base()}/api/v1/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${credential}`,
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }
}

/** Asks again while the server answers 503, which says that nothing happened: a busy machine is no fault of it. */
export async function whenReady<T>({ pid }: Pick<Started, 'pid'>, ask: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  const waited = timeGivenTo(pid)
  for (;;) {
    const outcome = await ask()
    if (outcome.is !== 'refused' || outcome.status !== 503 || waited() > BUSY_MS) return outcome
    await Bun.sleep(ASK_AGAIN_MS)
  }
}
