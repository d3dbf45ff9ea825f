import type { TracedStep } from '../cluster'
import type { Log } from '../kernel/log'
import type { UsageEntry } from '../usage'
import type { Config } from './config'

/** A request that was answered, as the access log has it. */
export type Answered = {
  id: string
  method: string
  path: string
  status: number
  ms: number
  code: string | null
  at: string
}

/** What is told to a collector of OpenTelemetry. */
export type Telemetry = {
  /** One trace of a request that has been answered, with its steps. */
  request(line: Answered, steps: readonly TracedStep[]): void
  /** The measurements of a settled call. */
  call(entry: UsageEntry): void
  /** Sends what waits, within a few seconds. Never throws. */
  close(): Promise<void>
}

/** Null unless an endpoint is set. The SDK is loaded only then: it takes memory and time that most servers save. */
export async function openTelemetry(config: Config, log: Log): Promise<Telemetry | null> {
  if (!config.otelEndpoint) return null
  const { createTelemetry } = await import('./otel')
  return createTelemetry(config, log)
}
