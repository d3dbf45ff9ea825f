import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../kernel/clock'
import { randomHex } from '../kernel/crypto'
import { addressAdvice } from './addresses'
import { EngineFailure, type EngineRequest } from './engine'
import { Collector } from './meter'
import type { Target } from './targets'

/** The result of one check of `svc-admin engines test` (docs/operating.md 2.18). */
export type TrialCheck = {
  check: 'answer' | 'stream' | 'json' | 'image' | 'speech' | 'transcription' | 'video' | 'embedding'
  ok: boolean
  latencyMs: number
  detail: string
}

const TRIAL_TIMEOUT_MS = 30_000
const FIT_TIMEOUT_MS = 5_000

/** Makes small real calls: a whole answer, a stream, and JSON unless it has none. Never throws. */
export async function tryTarget(target: Target, clock: Clock): Promise<TrialCheck[]> {
  const alone = target.makes === 'text' ? null : ALONE[target.makes]
  if (alone) return [await timed(target.makes as TrialCheck['check'], clock, () => alone(target))]
  const checks = [
    await timed('answer', clock, () => textOf(target, request(target, 'Say hello in five words.'), false)),
    await timed('stream', clock, () => textOf(target, request(target, 'Count from one to five.'), true)),
    ...(target.can.json === false ? [] : [await json(target, clock)]),
  ]
  const [answer, streamed, third] = checks
  if (answer?.ok && streamed?.ok && third && !third.ok) third.detail += `; ${NO_JSON}`
  const better = checks.some(({ ok }) => ok) ? null : await target.fit?.(AbortSignal.timeout(FIT_TIMEOUT_MS))
  return better ? checks.map((one) => ({ ...one, detail: `${one.detail}; ${addressAdvice(better)}` })) : checks
}

const NO_JSON = 'if it cannot answer in JSON, say so: engines add or update with --json-output no'

/** The single check for targets that make no text, as cheap as possible. */
const ALONE = { image: picture, speech: spoken, transcription: heard, video: filmed, embedding: embedded }

async function picture({ driver, model }: Target): Promise<string> {
  if (!driver.image) throw new EngineFailure('config', 'this kind of upstream does not support pictures')
  const signal = AbortSignal.timeout(TRIAL_TIMEOUT_MS)
  const wanted = { prompt: 'A red circle on white.', changes: [], style: null, aspectRatio: null, variant: 0 }
  const { bytes, mimeType } = await driver.image({ ...wanted, model, quality: 'draft', signal })
  return `${mimeType}, ${bytes.length} bytes`
}

async function embedded({ driver, model }: Target): Promise<string> {
  if (!driver.embed) throw new EngineFailure('config', 'this kind of upstream does not support embeddings')
  const signal = AbortSignal.timeout(TRIAL_TIMEOUT_MS)
  const { vectors } = await driver.embed({ model, inputs: ['Hi.'], dimensions: null, signal })
  return `vectors of ${vectors[0]!.length} numbers`
}

async function spoken({ driver, model }: Target): Promise<string> {
  if (!driver.speak) throw new EngineFailure('config', 'this kind of upstream does not support speech')
  const signal = AbortSignal.timeout(TRIAL_TIMEOUT_MS)
  const mp3 = await driver.speak({ model, text: 'Hi.', voice: 'alloy', speed: 1, format: 'mp3', signal })
  return `audio/mpeg, ${mp3.length} bytes`
}

/** Transcribes half a second of silence. Any answer counts as success. */
async function heard({ driver, model }: Target): Promise<string> {
  if (!driver.transcribe) throw new EngineFailure('config', 'this kind of upstream does not support transcription')
  const path = join(tmpdir(), `svc-trial-${randomHex(8)}.wav`)
  await Bun.write(path, silence())
  try {
    const signal = AbortSignal.timeout(TRIAL_TIMEOUT_MS)
    const { text } = await driver.transcribe({ model, path, filename: 'silence.wav', mimeType: 'audio/wav', signal })
    return text
      ? `transcribed half a second of silence as "${shortened(text)}"`
      : 'transcribed half a second of silence as no text'
  } finally {
    await rm(path, { force: true })
  }
}

/** Only probes the upstream, because a video is too expensive for a trial. */
async function filmed({ driver, model }: Target): Promise<string> {
  if (!driver.video) throw new EngineFailure('config', 'this kind of upstream does not support videos')
  const listed = await driver.probe(AbortSignal.timeout(TRIAL_TIMEOUT_MS))
  const isListed = !listed.length || listed.some(({ id }) => id === model)
  if (!isListed) throw new EngineFailure('config', `its model list does not contain "${model}"`)
  return 'it answers; no video was requested, because that costs money'
}

const RATE = 16_000

/** Half a second as WAV: mono, 16 bits. */
function silence(): Uint8Array {
  const bytes = Buffer.alloc(44 + RATE)
  bytes.write('RIFF', 0)
  bytes.writeUInt32LE(36 + RATE, 4)
  bytes.write('WAVEfmt ', 8)
  for (const [at, value] of [
    [16, 16],
    [24, RATE],
    [28, RATE * 2],
    [40, RATE],
  ] as const)
    bytes.writeUInt32LE(value, at)
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 2],
    [34, 16],
  ] as const)
    bytes.writeUInt16LE(value, at)
  bytes.write('data', 36)
  return bytes
}

const json = (target: Target, clock: Clock): Promise<TrialCheck> =>
  timed(
    'json',
    clock,
    () => textOf(target, { ...request(target, 'Give the JSON object {"ok": true}.'), json: true }, false),
    notJson,
  )

const request = (target: Target, prompt: string): EngineRequest => ({
  model: target.model,
  mode: 'fast',
  messages: [{ role: 'user', content: prompt }],
  maxOutputTokens: 200,
  signal: AbortSignal.timeout(TRIAL_TIMEOUT_MS),
})

async function textOf({ driver }: Target, request: EngineRequest, streams: boolean): Promise<string> {
  const collected = new Collector(streams)
  await driver.ask(request, collected)
  return collected.answer.text
}

/** Why a text is not the expected JSON; null if it is. */
function notJson(text: string): string | null {
  try {
    JSON.parse(text)
    return null
  } catch {
    return `the answer is not JSON: ${shortened(text)}`
  }
}

const shortened = (text: string): string => text.trim().slice(0, 80)

/** Runs one check and measures it. `problemOf` returns what is wrong with the answer, or null. */
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
    const { name, message } = error as Error
    const why = name === 'TimeoutError' || name === 'AbortError' ? 'no complete answer within 30 s' : message
    const detail = error instanceof EngineFailure ? `${error.kind}: ${message}` : why
    return { check, ok: false, latencyMs: latency(), detail }
  }
}
