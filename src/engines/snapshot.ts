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
  /** Whether this machine speaks where no upstream does. */
  speaksHere: boolean
}

type Parts = { upstreams: ReadonlyMap<string, UpstreamPart>; builtin: Omit<UpstreamPart, 'slots' | 'fit'> }

/** What makes videos and speech where no upstream does: the server itself, without a driver. */
const MADE_HERE = { target: 'builtin:builtin', upstream: 'builtin', kind: 'builtin', breaker: 'closed' } as const

type Entry = (typeof ENGINES)[number] | (typeof AUDIO_ENGINES)[number]

export type Snapshot = ReturnType<typeof createSnapshot>

/** The engines as they are set at one moment: a request or job asks the same ones until it ends. */
export function createSnapshot(config: EngineConfig, parts: Parts, { lacks, speaksHere, ...deps }: SnapshotDeps) {
  const targets = createTargets(config, parts)
  const answering = createAnswering({ targets, entries: [...ENGINES, ...IMAGE_ENGINES], ...deps })
  const sounding = createSounding({ targets, ...deps })
  const filming = createFilming({ targets, ...deps, hasBuiltin: config.builtin })
  const isMadeHere = ({ id, kind }: Entry): boolean =>
    kind === 'video'
      ? filming.filmmaker() === 'builtin'
      : kind === 'speech' && speaksHere && (targets.get(id) ?? []).length === 0
  return {
    fingerprint: fingerprintOf(config),
    targets,
    answering,
    sounding,
    filming,
    probes: createProbes(targets, deps.clock, lacks),
    of: (id: string): readonly Target[] => targets.get(findEngine(id)?.id ?? '') ?? [],

    standing(entry: Entry): Standing {
      const { id, mode, kind } = entry
      if (isMadeHere(entry)) return { status: 'available', why: null }
      const own = targets.get(id) ?? []
      const plan = answering.plan(id) ?? own.map((target) => ({ engineId: id, target, fallback: false }))
      return standingOf({ mode, kind }, plan, lacks(mode))
    },

    /** The targets of each engine, with the state of their breakers. For operators. */
    mapping: () =>
      [...ENGINES, ...AUDIO_ENGINES].map((entry) => ({
        engineId: entry.id,
        mode: entry.mode,
        makes: entry.kind,
        targets: isMadeHere(entry)
          ? [MADE_HERE]
          : (targets.get(entry.id) ?? []).map(({ id: target, upstream, kind, breaker }) => ({
              target,
              upstream,
              kind,
              breaker: breaker.state(),
            })),
      })),
  }
}
