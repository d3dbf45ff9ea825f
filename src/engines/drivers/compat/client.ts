import { trustedFetch } from '../../../kernel/outbound'
import type { Driver, EngineAnswer, EngineFailure, EnginePart, EngineRequest } from '../../engine'
import { failureOfStatus } from '../../failures'
import { askModels } from '../listing'
import { PLAIN_TIMEOUT_MS, STREAM_TIMEOUT_MS, startTimeout, type UpstreamTimeout } from '../upstream-timeout'
import { openEvents, readText } from './body'
import { type CallOptions, headersOf, urlOf } from './call-options'
import { createStreamReader, readAnswer } from './from-wire'
import { createCompatImages } from './images'
import { createCompatSpeech } from './speech'
import { toWire, type WireRequest } from './to-wire'
import { createCompatTranscription } from './transcription'
import { createCompatVideos } from './videos'

export type CompatOptions = CallOptions & { outputLimitField: string; imageEdits?: boolean | undefined }

/** Driver for any chat-completions server. It is on the hot path, so it does no optional work. */
export function createCompatDriver(options: CompatOptions): Driver {
  const { clock, outputLimitField, silenceMs } = options
  const limits = (ms: number) => ({ clock, silenceMs, timeoutMs: options.timeoutMs ?? ms })
  const endpoint = urlOf(options, '/chat/completions')
  const own = headersOf(options)
  const headers = { ...own, 'content-type': 'application/json' }

  return {
    complete,
    stream,
    ...createCompatImages(options),
    ...createCompatSpeech(options),
    ...createCompatTranscription(options),
    ...createCompatVideos(options),
    probe: (signal) =>
      askModels({ url: urlOf(options, '/models'), headers: own, signal, limits: limits(PLAIN_TIMEOUT_MS), clock }),
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
