import type { Clock } from '../kernel/clock'
import type { Log } from '../kernel/log'
import { createAnswering } from './answering'
import type { Observe } from './attempt'
import { AUDIO_ENGINES, ENGINES, findEngine, IMAGE_ENGINES } from './catalog'
import { type EngineConfig, fingerprintOf } from './config'
import { createFilming } from './filming'
import type { UpstreamPart } from './parts'
import { createProbes } from './probes'
import { createSounding } from './sounding'
import { type Standing, standingOf } from './standing'
import { createTargets, type Target } from './targets'

export type SnapshotDeps = {
  clock: Clock
  log: Log
  observe: Observe
  jitter(): number
  /** What a mode needs besides an engine and this server has not; null where nothing is missing. */
  lacks(mode: string): string | null
}

type Parts = { upstreams: ReadonlyMap<string, UpstreamPart>; builtin: Omit<UpstreamPart, 'slots' | 'fit'> }

export type Snapshot = ReturnType<typeof createSnapshot>

/** The engines as they are set at one moment: a request or job asks the same ones until it ends. */
export function createSnapshot(config: EngineConfig, parts: Parts, { lacks, ...deps }: SnapshotDeps) {
  const targets = createTargets(config, parts)
  const answering = createAnswering({ targets, entries: [...ENGINES, ...IMAGE_ENGINES], ...deps })
  const sounding = createSounding({ targets, ...deps })
  const filming = createFilming({ targets, ...deps, hasBuiltin: config.builtin })
  return {
    fingerprint: fingerprintOf(config),
    targets,
    answering,
    sounding,
    filming,
    probes: createProbes(targets, deps.clock),
    of: (id: string): readonly Target[] => targets.get(findEngine(id)?.id ?? '') ?? [],

    standing({ id, mode, kind }: (typeof ENGINES)[number] | (typeof AUDIO_ENGINES)[number]): Standing {
      if (kind === 'video' && filming.filmmaker() === 'builtin') return { status: 'available', why: null }
      const own = targets.get(id) ?? []
      const plan = answering.plan(id) ?? own.map((target) => ({ engineId: id, target, fallback: false }))
      return standingOf({ mode, kind }, plan, lacks(mode))
    },

    /** The targets of each engine, with the state of their breakers. For operators. */
    mapping: () =>
      [...ENGINES, ...AUDIO_ENGINES].map(({ id, mode }) => ({
        engineId: id,
        mode,
        targets: (targets.get(id) ?? []).map(({ id: target, upstream, kind, breaker }) => ({
          target,
          upstream,
          kind,
          breaker: breaker.state(),
        })),
      })),
  }
}
