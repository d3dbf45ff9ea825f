import type { Clock } from '../kernel/clock'
import type { Log } from '../kernel/log'
import type { Origin } from './answering'
import { type Observe, type Reached, reach } from './attempt'
import { AUDIO_ENGINES, type AudioEngine } from './catalog'
import { type Driver, EngineFailure } from './engine'
import { engineMissing } from './errors'
import type { SpeechRequest, Transcription, TranscriptionRequest } from './speech'
import type { Target, Targets } from './targets'

type Deps = { targets: Targets; clock: Clock; log: Log; observe: Observe; jitter(): number }

/** The upstream's model name is filled in per target. */
type By<Request> = Omit<Request, 'model'> & { origin: Origin }

/** Calls the engines of sound: the first of their targets that answers. */
export function createSounding({ targets, ...deps }: Deps) {
  return {
    /**
     * Text as MP3. Throws 503 `engine_unavailable` when no upstream answered, 400 for what it cannot take, and the
     * signal's reason.
     */
    speak: (request: By<SpeechRequest>): Promise<Uint8Array> =>
      ask('svc-1-voice', request, ({ speak }, model) => speak?.({ ...request, model })),

    /** The words of a recording. Throws as `speak` does. */
    transcribe: (request: By<TranscriptionRequest>): Promise<Transcription> =>
      ask('svc-1-transcribe', request, ({ transcribe }, model) => transcribe?.({ ...request, model })),
  }

  async function ask<T>(
    engineId: AudioEngine,
    { signal, origin }: { signal: AbortSignal; origin: Origin },
    call: (driver: Driver, model: string) => Promise<T> | undefined,
  ): Promise<T> {
    const { mode } = AUDIO_ENGINES.find(({ id }) => id === engineId)!
    const candidates = (targets.get(engineId) ?? []).map((target) => ({ engineId, target, fallback: false }))
    if (!candidates.length) throw engineMissing.with({ retryAfterS: 60 }, mode)
    const begin = ({ driver, model, slots }: Target): Promise<T> => {
      const asked = async () =>
        (await call(driver, model)) ??
        Promise.reject(new EngineFailure('config', 'this kind of upstream does not support audio'))
      return slots ? slots.hold(origin.owner, signal, asked) : asked()
    }
    const order = { mode, signal, candidates, origin, countTokens: () => 0, begin }
    const reached: Reached<T> = await reach(order, deps)
    reached.pass.succeeded()
    return reached.value
  }
}
