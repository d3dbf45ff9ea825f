import type { Clock } from '../../../kernel/clock'
import { trustedFetch } from '../../../kernel/outbound'
import type { Driver, EngineAnswer, EngineFailure, EnginePart, EngineRequest } from '../../engine'
import { failureOfStatus } from '../../failures'
import { holdLeash, type Leash, type Patience, PLAIN_TIMEOUT_MS, STREAM_TIMEOUT_MS } from '../leash'
import { askModels } from '../listing'
import { openEvents, readText } from './body'
import { createStreamReader, readAnswer } from './from-wire'
import { toWire, type WireRequest } from './to-wire'

export type CompatOptions = Patience & {
  /** Without the trailing `/chat/completions`. */
  baseUrl: string
  apiKey: string | null
  outputLimitField: string
  /** Sent with every call, beside or instead of our own; names in lower case. */
  headers?: Record<string, string>
  clock: Clock
}

/** Driver for any chat-completions server. It is on the hot path, so it does no optional work. */
export function createCompatDriver(options: CompatOptions): Driver {
  const { clock, outputLimitField, silenceMs } = options
  const limits = (ms: number) => ({ clock, silenceMs, timeoutMs: options.timeoutMs ?? ms })
  const baseUrl = options.baseUrl.replace(/\/+$/, '')
  const endpoint = `${baseUrl}/chat/completions`
  const own: Record<string, string> = {
    ...(options.apiKey ? { authorization: `Bearer ${options.apiKey}` } : {}),
    ...options.headers,
  }
  const headers = { ...own, 'content-type': 'application/json' }

  return {
    complete,
    stream,
    probe: (signal) =>
      askModels({ url: `${baseUrl}/models`, headers: own, signal, limits: limits(PLAIN_TIMEOUT_MS), clock }),
  }

  async function complete(request: EngineRequest): Promise<EngineAnswer> {
    const leash = holdLeash(request.signal, limits(PLAIN_TIMEOUT_MS))
    try {
      const response = await post(toWire(request, false, { outputLimitField }), leash)
      const text = await readText(response, leash)
      leash.finished()
      return readAnswer(text)
    } catch (error) {
      throw leash.explain(error)
    } finally {
      leash.release()
    }
  }

  /**
   * Deltas that arrived in one network read become one part: a slow reader gets fewer, larger parts, and each
   * part costs work in every later layer.
   */
  async function* stream(request: EngineRequest): AsyncGenerator<EnginePart> {
    const leash = holdLeash(request.signal, limits(STREAM_TIMEOUT_MS))
    let events: ReturnType<typeof openEvents> | null = null
    try {
      const response = await post(toWire(request, true, { outputLimitField }), leash)
      events = openEvents(response, leash)
      const reader = createStreamReader()
      for (let batch = await events.next(); batch; batch = await events.next()) {
        const text = reader.read(batch)
        if (text) yield { type: 'text-delta', text }
      }
      yield* reader.end()
    } catch (error) {
      throw leash.explain(error)
    } finally {
      await events?.close()
      leash.release()
    }
  }

  async function post(body: WireRequest, leash: Leash): Promise<Response> {
    const response = await trustedFetch(endpoint, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal: leash.signal,
    })
    leash.heard()
    if (response.status === 200) return response
    throw refusal(response, await readText(response, leash))
  }

  function refusal(response: Response, body: string): EngineFailure {
    return failureOfStatus(response.status, response.headers.get('retry-after'), clock.now(), body)
  }
}
