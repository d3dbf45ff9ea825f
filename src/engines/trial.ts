import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../kernel/clock'
import { randomHex } from '../kernel/crypto'
import { parsedJson } from '../kernel/json'
import { addressAdvice } from './addresses'
import { type Driver, EngineFailure, type EngineRequest } from './engine'
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
  if (target.makes !== 'text') {
    const { makes, driver, model } = target
    const [name, call] = ALONE[makes]
    const missing = `this kind of upstream does not support ${name}`
    const made = async () =>
      (await call(driver, model, AbortSignal.timeout(TRIAL_TIMEOUT_MS))) ??
      Promise.reject(new EngineFailure('config', missing))
    return [await timed(makes, clock, made)]
  }
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

type Call = (driver: Driver, model: string, signal: AbortSignal) => Promise<string | undefined>

/** The single check for targets that make no text, as cheap as possible, and the name of what they make. */
const ALONE: Record<Exclude<Target['makes'], 'text'>, readonly [name: string, call: Call]> = {
  image: [
    'pictures',
    async ({ image }, model, signal) => {
      const wanted = { prompt: 'A red circle on white.', changes: [], style: null, aspectRatio: null, variant: 0 }
      const made = await image?.({ ...wanted, model, quality: 'draft', signal })
      return made && `${made.mimeType}, ${made.bytes.length} bytes`
    },
  ],
  embedding: [
    'embeddings',
    async ({ embed }, model, signal) => {
      const made = await embed?.({ model, inputs: ['Hi.'], dimensions: null, signal })
      return made && `vectors of ${made.vectors[0]!.length} numbers`
    },
  ],
  speech: [
    'speech',
    async ({ speak }, model, signal) => {
      const mp3 = await speak?.({ model, text: 'Hi.', voice: 'alloy', speed: 1, format: 'mp3', signal })
      return mp3 && `audio/mpeg, ${mp3.length} bytes`
    },
  ],
  transcription: ['transcription', heard],
  video: ['videos', filmed],
}

/** Half a second of silence as WAV: mono, 16 bits, 16,000 samples a second. */
const SILENCE = Buffer.concat([
  Buffer.from('UklGRqQ+AABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YYA+AAA=', 'base64'),
  Buffer.alloc(16_000),
])

/** Transcribes half a second of silence. Any answer counts as success. */
async function heard({ transcribe }: Driver, model: string, signal: AbortSignal): Promise<string | undefined> {
  if (!transcribe) return undefined
  const path = join(tmpdir(), `svc-trial-${randomHex(8)}.wav`)
  await Bun.write(path, SILENCE)
  try {
    const { text } = await transcribe({ model, path, filename: 'silence.wav', mimeType: 'audio/wav', signal })
    return `transcribed half a second of silence as ${text ? `"${shortened(text)}"` : 'no text'}`
  } finally {
    await rm(path, { force: true })
  }
}

/** Only probes the upstream, because a video is too expensive for a trial. */
async function filmed({ video, probe }: Driver, model: string, signal: AbortSignal): Promise<string | undefined> {
  if (!video) return undefined
  const listed = await probe(signal)
  const isListed = !listed.length || listed.some(({ id }) => id === model)
  if (!isListed) throw new EngineFailure('config', `its model list does not contain "${model}"`)
  return 'it answers; no video was requested, because that costs money'
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
  return parsedJson(text) === undefined ? `the answer is not JSON: ${shortened(text)}` : null
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
