import { trustedFetch } from '../../../kernel/outbound'
import { type Driver, type EngineAnswer, EngineFailure, type EnginePart, type EngineRequest } from '../../engine'
import { failureOfReport, failureOfStatus } from '../../failures'
import { atMost, collect, isEventStream, isJson, partsOfAnswer } from '../answers'
import { askModels } from '../listing'
import { PLAIN_TIMEOUT_MS, STREAM_TIMEOUT_MS, startTimeout, type UpstreamTimeout } from '../upstream-timeout'
import { openEvents, readText } from './body'
import { type CallOptions, headersOf, urlOf } from './call-options'
import { createStreamReader, type ExplainError, readAnswer } from './from-wire'
import { createCompatImages } from './images'
import { createCompatSpeech } from './speech'
import { toWire, type WireRequest } from './to-wire'
import { createCompatTranscription } from './transcription'
import { createCompatVideos } from './videos'

export type CompatOptions = CallOptions & { outputLimitField: string; imageEdits?: boolean | undefined }

/** How long the usage is waited for once an answer has its finish. */
const USAGE_WAIT_MS = 900

type Events = ReturnType<typeof openEvents>

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
      if (isEventStream(response)) return await collect(partsOf(response, timeout))
      const answer = await wholeOf(response, timeout)
      timeout.finished()
      return answer
    } catch (error) {
      throw timeout.explain(error)
    } finally {
      timeout.release()
    }
  }

  async function* stream(request: EngineRequest): AsyncGenerator<EnginePart> {
    const timeout = startTimeout(request.signal, limits(STREAM_TIMEOUT_MS))
    try {
      const response = await post(toWire(request, true, { outputLimitField }), timeout)
      // Some servers answer a stream with whole JSON, and a plain call with a stream.
      if (isJson(response)) yield* partsOfAnswer(await wholeOf(response, timeout))
      else yield* partsOf(response, timeout)
    } catch (error) {
      throw timeout.explain(error)
    } finally {
      timeout.release()
    }
  }

  async function wholeOf(response: Response, timeout: UpstreamTimeout): Promise<EngineAnswer> {
    return readAnswer(parseBody(await readText(response, timeout)), explainIn(response))
  }

  /**
   * Deltas that arrived in one network read become one part: a slow reader gets fewer, larger parts, and each
   * part costs work in every later layer. After the finish nothing is needed any more but the usage, which is waited
   * for a moment: whatever the connection does then, the answer is whole (contract 22.3).
   */
  async function* partsOf(response: Response, timeout: UpstreamTimeout): AsyncGenerator<EnginePart> {
    const events = openEvents(response, timeout)
    const reader = createStreamReader(explainIn(response))
    try {
      for (let batch = await events.next(); batch; batch = await events.next()) {
        yield* reader.read(batch)
        if (reader.isFinished) break
      }
      if (reader.isFinished && !reader.isWhole) await readUsage(events, reader)
      yield* reader.end()
    } finally {
      await events.close(reader.isFinished)
    }
  }

  /** Reads on until the usage came, for a second at most. */
  async function readUsage(events: Events, reader: ReturnType<typeof createStreamReader>): Promise<void> {
    let waiting = true
    const reading = async () => {
      for (let batch = await events.next(); batch && waiting; batch = await events.next()) {
        reader.read(batch)
        if (reader.isWhole) return
      }
    }
    await atMost(USAGE_WAIT_MS, reading())
    waiting = false
  }

  function explainIn(response: Response): ExplainError {
    return (wire) => failureOfReport(wire, response.headers, clock.now())
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
    return failureOfStatus(response.status, response.headers, clock.now(), body)
  }
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new EngineFailure('malformed', 'the answer is not JSON', { cause })
  }
}
