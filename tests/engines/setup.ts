import {
  createBuiltinDriver,
  createEngines,
  type EngineSettings,
  engineSettings,
  type RunRequest,
  type UpstreamConfig,
} from '../../src/engines'
import { systemClock } from '../../src/kernel/clock'
import { resolveSettings } from '../../src/kernel/config'
import { createLog } from '../../src/kernel/log'
import { type FakeClock, fakeClock } from '../support/clock'
import { pulled } from '../support/pulled'
import type { Upstream } from '../support/upstream'

type Options = { clock?: ReturnType<typeof hastyClock> }

/** The settings of a server that nobody told of an engine. */
export const NO_ENGINES: EngineSettings = resolveSettings(engineSettings, {}, {}).values

/** Each upstream under its name, and the targets of each engine. */
export const long = (
  upstreams: Record<string, Upstream | string>,
  models: Record<string, string[]>,
  more: Pick<UpstreamConfig, 'silenceMs' | 'timeoutMs'> = {},
): EngineSettings => ({
  ...NO_ENGINES,
  engines: {
    upstreams: Object.fromEntries(
      Object.entries(upstreams).map(([name, at]) => [
        name,
        { kind: 'compat' as const, baseUrl: typeof at === 'string' ? at : at.url, apiKey: 'sk-test', ...more },
      ]),
    ),
    models,
  },
})

/** A clock whose sleepers wake at once, while it remembers how long they asked for. */
export function hastyClock(): FakeClock & { slept: number[] } {
  const clock = fakeClock()
  const slept: number[] = []
  return {
    ...clock,
    slept,
    sleep: async (ms) => {
      slept.push(Math.round(ms))
      clock.advance(ms)
    },
  }
}

/** The same with real time for limits, for tests of upstreams that say nothing. */
export const waitingClock = (): ReturnType<typeof hastyClock> => ({
  ...hastyClock(),
  monotonic: systemClock.monotonic,
  after: systemClock.after,
})

export function openEngines(settings: EngineSettings, { clock = hastyClock() }: Options = {}) {
  const lines: string[] = []
  const log = createLog({ level: 'debug', pretty: false, write: (line) => void lines.push(line) })
  const engines = createEngines({ settings, clock, log, builtin: createBuiltinDriver({ clock }), jitter: () => 0.5 })
  return { engines, clock, lines }
}

export const ask = (prompt: string, more: Partial<RunRequest> = {}): RunRequest => ({
  mode: 'think',
  messages: [{ role: 'user', content: prompt }],
  maxOutputTokens: 200,
  origin: { owner: 'user:ada', requestId: 'req_1' },
  signal: new AbortController().signal,
  ...more,
})

type Run = ReturnType<typeof createEngines>['run']
type Part = Parameters<Parameters<Run>[2]>[0]

/** A stream at its first part, with its parts as a generator; `source` is known once it was read. */
export async function begin(engines: { run: Run }, engineId: string, request: RunRequest) {
  const running = { source: null as Awaited<ReturnType<Run>> | null, parts: whole() }
  const rest = pulled<Part>(async (take) => {
    running.source = await engines.run(engineId, request, take)
  })
  const first = await rest.next()
  return running

  async function* whole() {
    try {
      if (!first.done) yield first.value
      yield* rest
    } finally {
      await rest.return(undefined)
    }
  }
}
