import type { Clock } from '../../../kernel/clock'
import { trustedFetch } from '../../../kernel/outbound'
import { EngineFailure } from '../../engine'
import { failureOfError, failureOfStatus } from '../../failures'
import type { UpstreamTimeout } from '../upstream-timeout'

const MAX_EVENT_BYTES = 256 * 1024
const MAX_TOTAL_BYTES = 50 * 1024 * 1024
const MAX_ERROR_BYTES = 64 * 1024
const LINE_FEED = 10

export type WatchedFetch = {
  fetch: typeof fetch
  /** The first failure that this fetch found; the vendor package may have wrapped or swallowed it. */
  failure(): EngineFailure | null
}

/**
 * The `fetch` that a vendor package gets for one call. Error statuses become failures before the package reads
 * the body, and the body is checked for silence and size as in the compat driver.
 */
export function watchFetch(timeout: UpstreamTimeout, clock: Clock): WatchedFetch {
  let failure: EngineFailure | null = null
  const fail = (found: EngineFailure): EngineFailure => {
    failure ??= found
    return found
  }

  /** A connection that broke because we aborted it is not recorded as a failure of the upstream. */
  const broken = (error: unknown): never => {
    throw timeout.signal.aborted ? error : fail(failureOfError(error))
  }

  const watched = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const response = await trustedFetch(String(input), { ...init, signal: timeout.signal }).catch(broken)
    timeout.heard()
    if (response.status !== 200) {
      const body = Number(response.headers.get('content-length') ?? 0) > MAX_ERROR_BYTES ? '' : await response.text()
      throw fail(failureOfStatus(response.status, response.headers.get('retry-after'), clock.now(), body))
    }
    if (!response.body) return response
    const streamed = response.headers.get('content-type')?.includes('event-stream') ?? false
    const body = watchBytes(response.body, { streamed, timeout, fail, broken })
    return new Response(body, { status: 200, headers: response.headers })
  }

  return { fetch: Object.assign(watched, { preconnect: fetch.preconnect }), failure: () => failure }
}

type Watch = {
  streamed: boolean
  timeout: UpstreamTimeout
  fail(found: EngineFailure): EngineFailure
  broken(error: unknown): never
}

function watchBytes(source: ReadableStream<Uint8Array>, watch: Watch): ReadableStream<Uint8Array> {
  const { streamed, timeout, fail, broken } = watch
  const reader = source.getReader()
  let total = 0
  let line = 0
  const check = (bytes: Uint8Array): void => {
    total += bytes.length
    const end = bytes.lastIndexOf(LINE_FEED)
    line = end === -1 ? line + bytes.length : Math.max(bytes.length - end - 1, line + bytes.indexOf(LINE_FEED))
    if (total > MAX_TOTAL_BYTES) throw fail(new EngineFailure('too-large', 'the answer of the upstream is too large'))
    if (streamed && line > MAX_EVENT_BYTES) {
      throw fail(new EngineFailure('too-large', 'one event of the upstream is too large'))
    }
    if (end !== -1) line = bytes.length - end - 1
  }
  return new ReadableStream({
    async pull(controller) {
      timeout.heard()
      const { value, done } = await reader.read().catch(broken)
      timeout.rest()
      if (done) return controller.close()
      check(value)
      controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}
