import type { Candidate } from './attempt'
import type { AUDIO_ENGINES, EngineEntry } from './catalog'
import type { Target } from './targets'

type ModelStatus = 'available' | 'degraded' | 'down'

/** Whether an engine would answer now, and what is in the way, for operators; null where nothing is. */
export type SessionState = { status: ModelStatus; why: string | null }

type Entry = Pick<EngineEntry | (typeof AUDIO_ENGINES)[number], 'mode' | 'kind'>

/**
 * What `GET /models`, `engines list` and `doctor` say of an engine (contract 5.1), by what is known already: nothing is
 * asked. `plan`: its targets, then those of its fallback. `lacks`: what else the mode needs and this server has not.
 */
export function stateOf({ mode, kind }: Entry, plan: readonly Candidate[], lacks: string | null): SessionState {
  if (!plan.length) return { status: 'down', why: 'nothing is connected' }
  const able = plan.filter(({ target }) => whyUnable(target, mode, kind) === null)
  if (!able.length) return { status: 'down', why: whyUnable(plan[0]!.target, mode, kind) }
  const working = able.filter(({ target }) => whyStill(target) === null)
  const why = plan.map(({ target }) => whyUnable(target, mode, kind) ?? whyStill(target)).find((one) => one !== null)
  if (!working.length) return { status: 'down', why: why ?? null }
  const own = plan.filter(({ fallback }) => !fallback)
  const whole = own.every((one) => working.includes(one))
  return whole && lacks === null
    ? { status: 'available', why: null }
    : { status: 'degraded', why: lacks ?? why ?? null }
}

/** What a target cannot do that the engine is for. */
function whyUnable({ id, driver, can }: Target, mode: string, kind: Entry['kind']): string | null {
  if (mode === 'vision' && can.vision === false) return `${id} does not accept images`
  const makes =
    kind === 'text' ||
    { image: driver.image, video: driver.video, speech: driver.speak, transcription: driver.transcribe }[kind]
  return makes ? null : `${id} is of a kind that does not support ${kind}`
}

/** Why a target would not answer now. */
function whyStill({ id, breaker, fault, presence }: Target): string | null {
  const why = fault.now() ?? presence.away() ?? (breaker.state() === 'open' ? 'its calls failed' : null)
  return why === null ? null : `${id}: ${why}`
}
