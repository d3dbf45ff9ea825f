import type { RequestLine, TracedStep } from '../cluster'
import type { Log } from '../kernel/log'
import type { UsageEntry } from '../usage'
import type { Config } from './config'

/** An answered request, as in the access log. */
export type AnsweredRequest = Omit<RequestLine, 'key' | 'user' | 'cost_cents'>

/** Exports requests and calls to an OpenTelemetry collector. */
export type Telemetry = {
  /** Exports one trace of an answered request, with its steps. */
  request(line: AnsweredRequest, steps: readonly TracedStep[]): void
  /** Records the measurements of a settled call. */
  call(entry: UsageEntry): void
  /** Sends everything buffered, within a few seconds. Never throws. */
  close(): Promise<void>
}

/** Null unless an endpoint is set. Loads the SDK only then, because it costs memory and time that most servers save. */
export async function openTelemetry(config: Config, log: Log): Promise<Telemetry | null> {
  if (!config.otelEndpoint) return null
  const { createTelemetry } = await import('./otel')
  return createTelemetry(config, log)
}
