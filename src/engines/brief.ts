import type { Clock } from '../kernel/clock'
import { engineOfMode } from './catalog'
import type { Message } from './engine'
import type { EngineService } from './service'
import type { Origin } from './targets'

type Deps = { engines: Pick<EngineService, 'answer' | 'hasModel' | 'isFree'>; clock: Pick<Clock, 'after'> }

type Brief = {
  messages: readonly Message[]
  maxOutputTokens: number
  /** Time limit in milliseconds, because a caller waits for the answer. */
  withinMs: number
  signal: AbortSignal
  origin?: Origin | undefined
}

/** The engine for the server's own short questions: the first connected one of `auto` and `fast`, else null. */
export const shortAnswerEngine = ({ hasModel, isFree }: Pick<EngineService, 'hasModel' | 'isFree'>): string | null =>
  (hasModel() && ['auto', 'fast'].map((mode) => engineOfMode(mode)!.id).find((id) => !isFree(id))) || null

/**
 * Asks engine `id` for a short JSON answer that the server itself needs. Nobody is charged. Returns null if it failed
 * or took too long. The failure is logged, and the caller's request continues without the answer.
 * @throws the signal's reason when the caller has left
 */
export async function askShortQuestion(
  { engines, clock }: Deps,
  id: string,
  { withinMs, signal, ...request }: Brief,
): Promise<string | null> {
  const late = new AbortController()
  const disarm = clock.after(withinMs, () => late.abort())
  try {
    const both = AbortSignal.any([signal, late.signal])
    const { text } = await engines.answer(id, { ...request, mode: 'auto', temperature: 0, json: true, signal: both })
    return text
  } catch {
    signal.throwIfAborted()
    return null
  } finally {
    disarm()
  }
}
