import type { Clock } from '../kernel/clock'
import { EngineFailure, type EngineRequest } from './engine'
import type { Target } from './targets'

/** The result of one check of `svc-admin engines test` (dx 2.18). */
export type TrialCheck = {
  check: 'answer' | 'stream' | 'json' | 'image'
  ok: boolean
  latencyMs: number
  detail: string
}

const TRIAL_TIMEOUT_MS = 30_000

/** Makes small real calls: a whole answer, a stream, and JSON unless it is known to give none. Never throws. */
export async function tryTarget(target: Target, clock: Clock): Promise<TrialCheck[]> {
  if (target.makes === 'image') return [await timed('image', clock, () => picture(target))]
  return [
    await timed('answer', clock, () => collect(target, request(target, 'Say hello in five words.'))),
    await timed('stream', clock, () => stream(target, request(target, 'Count from one to five.'))),
    ...(target.can.json === false ? [] : [await json(target, clock)]),
  ]
}

async function picture({ driver, model }: Target): Promise<string> {
  if (!driver.image) throw new EngineFailure('config', 'an upstream of this kind makes no pictures')
  const signal = AbortSignal.timeout(TRIAL_TIMEOUT_MS)
  const wanted = { prompt: 'A red circle on white.', changes: [], style: null, aspectRatio: null, variant: 0 }
  const { bytes, mimeType } = await driver.image({ ...wanted, model, quality: 'draft', signal })
  return `${mimeType}, ${bytes.length} bytes`
}

const json = (target: Target, clock: Clock): Promise<TrialCheck> =>
  timed(
    'json',
    clock,
    () => collect(target, { ...request(target, 'Give the JSON object {"ok": true}.'), json: true }),
    notJson,
  )

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

/** What is wrong with a text that was to be JSON; null when nothing is. */
function notJson(text: string): string | null {
  try {
    JSON.parse(text)
    return null
  } catch {
    return `the answer is not JSON: ${shortened(text)}`
  }
}

const shortened = (text: string): string => text.trim().slice(0, 80)

function reasonOf(error: unknown): string {
  if (error instanceof EngineFailure) return `${error.kind}: ${error.message}`
  const { name, message } = error as Error
  return name === 'TimeoutError' || name === 'AbortError' ? 'no whole answer within 30 s' : message
}

/** `problemOf` says what is wrong with a text that came. */
async function timed(
  check: TrialCheck['check'],
  clock: Clock,
  call: () => Promise<string>,
  problemOf: (text: string) => string | null = () => null,
): Promise<TrialCheck> {
  const started = clock.monotonic()
  const latency = () => Math.round(clock.monotonic() - started)
  try {
    const text = await call()
    const problem = text.trim() ? problemOf(text) : 'an empty answer'
    return { check, ok: problem === null, latencyMs: latency(), detail: problem ?? shortened(text) }
  } catch (error) {
    return { check, ok: false, latencyMs: latency(), detail: reasonOf(error) }
  }
}
