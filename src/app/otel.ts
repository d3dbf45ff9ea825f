import {
  type Attributes,
  type Context,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { TracedStep } from '../cluster'
import type { Log } from '../kernel/log'
import type { UsageEntry } from '../usage'
import type { Config } from './config'
import type { AnsweredRequest, Telemetry } from './telemetry'
import { RELEASE } from './version'

const FAREWELL_MS = 3_000
const MICRO_PER_CENT = 1_000_000
/** Provider name that svc reports for all engines. */
const PROVIDER = 'svc'
/** Operation names of the GenAI conventions by path. All other paths are conversations. */
const OPERATIONS: readonly (readonly [RegExp, string])[] = [
  [/^\/images?\b|^\/video|^\/audio\/tts/, 'generate_content'],
  [/^\/research/, 'invoke_agent'],
]

/**
 * Exports traces and metrics over OTLP/HTTP, named by the semantic conventions for GenAI. Builds a trace from the noted
 * steps after the request is answered, so a running request pays nothing. Never exports prompts, answers or arguments.
 */
export function createTelemetry(config: Config, log: Log): Telemetry {
  const base = config.otelEndpoint.replace(/\/$/, '')
  const headers = headersOf(config.otelHeaders)
  // Logs the SDK's message about an unreachable collector. The SDK repeats it for every attempt.
  const say = (message: string) => log.warn({ collector: base }, message.slice(0, 200))
  diag.setLogger({ error: say, warn: say, info: quiet, debug: quiet, verbose: quiet }, DiagLogLevel.WARN)
  const resource = resourceFromAttributes({
    'service.name': config.otelServiceName,
    'service.version': RELEASE,
    'deployment.environment.name': config.production ? 'production' : 'development',
  })
  const spans = new TracerProvider({
    resource,
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url: `${base}/v1/traces`, headers }),
        scheduledDelayMillis: config.otelSeconds * 1_000,
      }),
    ],
  })
  const meters = new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter({ url: `${base}/v1/metrics`, headers }),
        exportIntervalMillis: config.otelSeconds * 1_000,
        exportTimeoutMillis: config.otelSeconds * 1_000,
      }),
    ],
  })
  const tracer = spans.getTracer('svc', RELEASE)
  const measure = instruments(meters)

  return {
    request(line, steps) {
      const end = Date.parse(line.at)
      const root = tracer.startSpan(
        `${line.method} ${line.path}`,
        { kind: SpanKind.SERVER, startTime: end - line.ms, attributes: aboutRequest(line, steps) },
        ROOT_CONTEXT,
      )
      if (line.status >= 500) root.setStatus({ code: SpanStatusCode.ERROR, message: line.code ?? '' })
      const inside = trace.setSpan(ROOT_CONTEXT, root)
      // The settlement is not an operation, and a target that was passed over was not called.
      for (const step of steps)
        if (step.kind !== 'settled' && step.facts?.outcome !== 'passed over') addStep(step, inside)
      root.end(end)
      measure.request(line)
    },
    call: measure.call,
    async close() {
      const sent = Promise.allSettled([spans.shutdown(), meters.shutdown()])
      await Promise.race([sent, Bun.sleep(FAREWELL_MS)])
    },
  }

  function addStep(step: TracedStep, inside: Context): void {
    const startTime = Date.parse(step.at)
    const { name, kind, attributes } = spanOf(step)
    const span = tracer.startSpan(name, { kind, startTime, attributes }, inside)
    const { failed, error } = step.facts ?? {}
    const wrong = failed ?? error
    if (wrong) span.setStatus({ code: SpanStatusCode.ERROR, message: String(wrong) })
    span.end(startTime + step.ms)
  }
}

const quiet = (): void => undefined

function spanOf({ kind, name, facts = {} }: TracedStep): { name: string; kind: SpanKind; attributes: Attributes } {
  if (kind === 'engine')
    return {
      name: `chat ${facts.engine ?? name}`,
      kind: SpanKind.CLIENT,
      attributes: known({
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': PROVIDER,
        'gen_ai.request.model': facts.engine,
        'gen_ai.response.model': name,
        'svc.mode': facts.mode,
        'error.type': facts.outcome === 'answered' ? undefined : facts.outcome,
      }),
    }
  if (kind === 'tool')
    return {
      name: `execute_tool ${name}`,
      kind: SpanKind.INTERNAL,
      attributes: known({
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': name,
        'svc.tool.status': facts.status,
      }),
    }
  const own = Object.entries(facts).map(([fact, value]) => [`svc.${fact}`, value] as const)
  return { name, kind: SpanKind.INTERNAL, attributes: known(Object.fromEntries(own)) }
}

function aboutRequest({ id, method, path, status, code }: AnsweredRequest, steps: readonly TracedStep[]): Attributes {
  const settled = steps.find(({ kind }) => kind === 'settled')
  const facts = settled?.facts ?? {}
  return known({
    'http.request.method': method,
    'url.path': path,
    'http.response.status_code': status,
    'error.type': code ?? undefined,
    'svc.request_id': id,
    ...(settled && {
      'gen_ai.operation.name': operationOf(settled.name),
      'gen_ai.provider.name': PROVIDER,
      'gen_ai.request.model': facts.engine,
      'gen_ai.usage.input_tokens': facts.prompt_tokens,
      'gen_ai.usage.output_tokens': facts.completion_tokens,
      'svc.mode': facts.mode,
      'svc.cached': facts.cached,
      'svc.cost_cents': facts.cost_cents,
    }),
  })
}

/** Metric instruments. Durations are in seconds, as the conventions require. */
function instruments(meters: MeterProvider) {
  const meter = meters.getMeter('svc', RELEASE)
  const server = meter.createHistogram('http.server.request.duration', { unit: 's' })
  const tokens = meter.createHistogram('gen_ai.client.token.usage', { unit: '{token}' })
  const duration = meter.createHistogram('gen_ai.client.operation.duration', { unit: 's' })
  const first = meter.createHistogram('gen_ai.server.time_to_first_token', { unit: 's' })
  const cost = meter.createCounter('svc.cost', { unit: '{cent}' })
  return {
    request({ method, status, ms }: AnsweredRequest): void {
      server.record(ms / 1_000, { 'http.request.method': method, 'http.response.status_code': status })
    },
    call(entry: UsageEntry): void {
      const about = known({
        'gen_ai.operation.name': operationOf(entry.endpoint),
        'gen_ai.provider.name': PROVIDER,
        'gen_ai.request.model': entry.model,
        'svc.mode': entry.resolvedMode,
        'svc.cached': entry.cached,
        'error.type': entry.status < 400 ? undefined : String(entry.status),
      })
      duration.record(entry.latencyMs / 1_000, about)
      if (entry.ttftMs !== null) first.record(entry.ttftMs / 1_000, about)
      if (entry.promptTokens) tokens.record(entry.promptTokens, { ...about, 'gen_ai.token.type': 'input' })
      if (entry.completionTokens) tokens.record(entry.completionTokens, { ...about, 'gen_ai.token.type': 'output' })
      if (entry.costMicro > 0) cost.add(entry.costMicro / MICRO_PER_CENT, about)
    },
  }
}

const operationOf = (endpoint: string): string => OPERATIONS.find(([path]) => path.test(endpoint))?.[1] ?? 'chat'

/** Parses `name=value` pairs separated by commas, the usual format for collector headers. */
const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split(',')
      .map((pair) => [pair.slice(0, pair.indexOf('=')).trim(), pair.slice(pair.indexOf('=') + 1).trim()] as const)
      .filter(([name]) => name !== ''),
  )

const known = (all: Readonly<Record<string, unknown>>): Attributes =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== null)) as Attributes
