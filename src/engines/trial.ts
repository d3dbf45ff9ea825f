import type { Clock } from '../kernel/clock'
import { EngineFailure, type EngineRequest } from './engine'
import type { Target } from './targets'

/** The result of one check of `svc-admin engines test` (dx 2.10). */
export type TrialCheck = { check: 'answer' | 'stream' | 'json'; ok: boolean; latencyMs: number; detail: string }

const TRIAL_TIMEOUT_MS = 30_000

/** Makes three small real calls: a whole answer, a stream, and JSON. Never throws. */
export async function tryTarget(target: Target, clock: Clock): Promise<TrialCheck[]> {
  return [
    await timed('answer', clock, () => collect(target, request(target, 'Say hello in five words.'))),
    await timed('stream', clock, () => stream(target, request(target, 'Count from one to five.'))),
    await timed('json', clock, async () => {
      const text = await collect(target, { ...request(target, 'Give the JSON object {"ok": true}.'), json: true })
      JSON.parse(text)
      return text
    }),
  ]
}

const request = (target: Target, prompt: string): EngineRequest => ({
  model: target.model,
  mode: 'fast',
  messages: [{ role: 'user', content: prompt }],
  maxOutputTokens: 200,
  signal: AbortSignal.timeout(TRIAL_TIMEOUT_MS),
})

const collect = async (target: Target, ask: EngineRequest): Promise<string> =>
  target.driver.complete ? (await target.driver.complete(ask)).text : stream(target, ask)

async function stream(target: Target, ask: EngineRequest): Promise<string> {
  let text = ''
  for await (const part of target.driver.stream(ask)) if (part.type === 'text-delta') text += part.text
  return text
}

async function timed(check: TrialCheck['check'], clock: Clock, call: () => Promise<string>): Promise<TrialCheck> {
  const started = clock.monotonic()
  const latency = () => Math.round(clock.monotonic() - started)
  try {
    const text = await call()
    const detail = text.trim() ? text.trim().slice(0, 80) : 'an empty answer'
    return { check, ok: text.trim() !== '', latencyMs: latency(), detail }
  } catch (error) {
    const detail = error instanceof EngineFailure ? `${error.kind}: ${error.message}` : 'no valid answer within 30 s'
    return { check, ok: false, latencyMs: latency(), detail }
  }
}
