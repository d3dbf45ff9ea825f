import type { Clock } from '../../kernel/clock'
import { trustedFetch } from '../../kernel/outbound'
import { EngineFailure, type ModelFacts } from '../engine'
import { failureOfError, failureOfStatus } from '../failures'
import { readText } from './compat-body'

type Request = {
  url: string
  headers: Record<string, string>
  signal: AbortSignal
  limits: TimeoutLimits
  clock: Clock
}

const MAX_MODELS = 5_000

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const listOf = (value: unknown): unknown[] | undefined => (Array.isArray(value) ? value : undefined)

/** How a compatible server is called, whatever it is asked for. */
export type CallOptions = TimeoutSettings & {
  /** Without what follows it, such as `/audio/speech`. */
  baseUrl: string
  apiKey: string | null
  /** Headers for every call; they are added to the default ones or replace them; names in lower case. */
  headers?: Record<string, string>
  clock: Clock
}

export const urlOf = ({ baseUrl }: CallOptions, path: string): string => baseUrl.replace(/(?<!\/)\/+$/, '') + path

export const headersOf = ({ apiKey, headers }: CallOptions): Record<string, string> => ({
  ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
  ...headers,
})

/** How long one upstream call may take, in milliseconds. */
export type TimeoutLimits = {
  clock: Pick<Clock, 'monotonic' | 'after'>
  /** From its beginning to its end. */
  timeoutMs: number
  /** Without a byte from the upstream; absent, it may be silent as long as it may take. */
  silenceMs?: number | undefined
}

/** The limits of an upstream's settings; absent members take the defaults (contract 28.4). */
export type TimeoutSettings = { timeoutMs?: number | undefined; silenceMs?: number | undefined }

/** What the request itself may take, plain and streamed (contract 1.9). */
export const PLAIN_TIMEOUT_MS = 120_000
export const STREAM_TIMEOUT_MS = 600_000

export type UpstreamTimeout = {
  /** For the upstream call: aborts with the caller, and when the upstream is too slow or silent for too long. */
  signal: AbortSignal
  /** Restarts the silence timer: bytes arrived, or a read begins. */
  heard(): void
  /** Suspends the silence timer until the next `heard`: a slow reader is not the upstream's silence. */
  rest(): void
  /** Translates an exception of the call; when the caller has left, returns the caller's own reason. */
  explain(error: unknown): unknown
  /** The whole answer has arrived, so `release` has nothing to abort. */
  finished(): void
  /** Stops the timers, and aborts the call unless it has finished. */
  release(): void
}

/** Bounds one upstream call: it is aborted when its caller leaves, or when it goes beyond its limits. */
export function startTimeout(
  caller: AbortSignal,
  { clock, timeoutMs, silenceMs = timeoutMs }: TimeoutLimits,
): UpstreamTimeout {
  const ending = new AbortController()
  const mindsSilence = silenceMs < timeoutMs
  let beyond: string | null = null
  let resting = false
  let whole = false
  let heardAt = clock.monotonic()
  let unwatch: (() => void) | null = null
  const left = () => ending.abort(caller.reason)
  const giveUp = (why: string) => {
    beyond = why
    ending.abort()
  }
  if (caller.aborted) left()
  else caller.addEventListener('abort', left, { once: true })
  const disarm = clock.after(timeoutMs, () => giveUp(`the upstream did not finish within ${timeoutMs / 1_000} s`))

  // Looks when the limit may have passed, because a timer that every byte restarts costs more.
  const watch = (ms: number): void => {
    unwatch = clock.after(ms, () => {
      unwatch = null
      if (resting) return
      const more = Math.ceil(heardAt + silenceMs - clock.monotonic())
      if (more > 0) watch(more)
      else giveUp(`the upstream was silent for ${silenceMs / 1_000} s`)
    })
  }
  if (mindsSilence) watch(silenceMs)

  return {
    signal: ending.signal,
    heard() {
      resting = false
      if (!mindsSilence) return
      heardAt = clock.monotonic()
      if (!unwatch && !ending.signal.aborted) watch(silenceMs)
    },
    rest() {
      resting = true
    },
    explain(error) {
      if (caller.aborted) return caller.reason
      return beyond === null ? failureOfError(error) : new EngineFailure('timeout', beyond)
    },
    finished() {
      whole = true
    },
    release() {
      disarm()
      unwatch?.()
      caller.removeEventListener('abort', left)
      // A finished call is not aborted, because notifying the listeners costs more than everything else here.
      if (!whole) ending.abort()
    },
  }
}

/**
 * Asks an upstream for the list of its models, which costs nothing. A server that has no such list (404, 405) is
 * there, and says nothing about its models. Throws {@link EngineFailure}.
 */
export async function askModels({ url, headers, signal, limits, clock }: Request): Promise<ModelFacts[]> {
  const timeout = startTimeout(signal, limits)
  try {
    const response = await trustedFetch(url, { headers, signal: timeout.signal })
    if (response.status === 404 || response.status === 405) return []
    const text = await readText(response, timeout)
    if (!response.ok) {
      throw failureOfStatus(response.status, response.headers, clock.now(), text)
    }
    return readListing(text)
  } catch (error) {
    throw timeout.explain(error)
  } finally {
    timeout.release()
  }
}

/** The models of a list in any of the forms that servers send; none where the text is something else. */
export function readListing(text: string): ModelFacts[] {
  const listed = parsed(text)
  const entries = [listed.data, listed.models].find(Array.isArray) ?? []
  return entries.slice(0, MAX_MODELS).filter(isRecord).flatMap(factsOf)
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

function factsOf(entry: Record<string, unknown>): ModelFacts[] {
  const id = [entry.id, entry.name].find((word) => typeof word === 'string')
  if (!id) return []
  const can = isRecord(entry.capabilities) ? entry.capabilities : {}
  const architecture = isRecord(entry.architecture) ? entry.architecture : {}
  const modalities = listOf(architecture.input_modalities) ?? listOf(entry.input_modalities)
  const parameters = listOf(entry.supported_parameters)
  return [
    {
      id: id.replace(/^models\//, ''),
      vision: modalities?.includes('image') ?? statedOf(can.vision ?? can.image_input),
      tools: parameters?.includes('tools') ?? statedOf(can.function_calling),
      json: parameters && ['response_format', 'structured_outputs'].some((word) => parameters.includes(word)),
    },
  ]
}

/** `true`, `{"supported": true}`, or their opposites; anything else tells nothing. */
function statedOf(value: unknown): boolean | undefined {
  const message = isRecord(value) ? value.supported : value
  return typeof message === 'boolean' ? message : undefined
}
