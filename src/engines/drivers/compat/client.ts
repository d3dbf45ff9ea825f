import type { Clock } from '../../../kernel/clock'
import { trustedFetch } from '../../../kernel/outbound'
import type { Driver, EngineAnswer, EngineFailure, EnginePart, EngineRequest } from '../../engine'
import { failureOfStatus } from '../../failures'
import { askModels } from '../listing'
import {
  PLAIN_TIMEOUT_MS,
  STREAM_TIMEOUT_MS,
  startTimeout,
  type TimeoutSettings,
  type UpstreamTimeout,
} from '../upstream-timeout'
import { openEvents, readText } from './body'
import { createStreamReader, readAnswer } from './from-wire'
import { toWire, type WireRequest } from './to-wire'

export type CompatOptions = TimeoutSettings & {
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
    const timeout = startTimeout(request.signal, limits(PLAIN_TIMEOUT_MS))
    try {
      const response = await post(toWire(request, false, { outputLimitField }), timeout)
      const text = await readText(response, timeout)
      timeout.finished()
      return readAnswer(text)
    } catch (error) {
      throw timeout.explain(error)
    } finally {
      timeout.release()
    }
  }

  /**
   * Deltas that arrived in one network read become one part: a slow reader gets fewer, larger parts, and each
   * part costs work in every later layer.
   */
  async function* stream(request: EngineRequest): AsyncGenerator<EnginePart> {
    const timeout = startTimeout(request.signal, limits(STREAM_TIMEOUT_MS))
    let events: ReturnType<typeof openEvents> | null = null
    try {
      const response = await post(toWire(request, true, { outputLimitField }), timeout)
      events = openEvents(response, timeout)
      const reader = createStreamReader()
      for (let batch = await events.next(); batch; batch = await events.next()) {
        const text = reader.read(batch)
        if (text) yield { type: 'text-delta', text }
      }
      yield* reader.end()
    } catch (error) {
      throw timeout.explain(error)
    } finally {
      await events?.close()
      timeout.release()
    }
  }

  async function post(body: WireRequest, timeout: UpstreamTimeout): Promise<Response> {
    const response = await trustedFetch(endpoint, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal: timeout.signal,
    })
    timeout.heard()
    if (response.status === 200) return response
    throw refusal(response, await readText(response, timeout))
  }

  function refusal(response: Response, body: string): EngineFailure {
    return failureOfStatus(response.status, response.headers.get('retry-after'), clock.now(), body)
  }
}
