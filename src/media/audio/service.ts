import type { ChargingService, Work } from '../../charging'
import { type EngineService, originOf, type Transcription } from '../../engines'
import { type Call, ownerOf } from '../../kernel/caller'
import { type Clock, iso } from '../../kernel/clock'
import type { Values } from '../../kernel/config'
import { AppError, invalidInput, messageOf } from '../../kernel/errors'
import { isBlank } from '../../kernel/text'
import { isLanguageCode, languageCodeOf } from '../../text'
import type { audioSettings } from '../config'
import { missingFile, missingText, sttProviderError, sttUnavailable, ttsProviderError, ttsUnavailable } from '../errors'
import { createLocalSpeech } from './espeak'
import { createRecordings, type Recording } from './recording'
import { type Transcript, TranscriptId } from './schema'
import { UPSTREAM_VOICES, type Voice, voiceOf } from './voices'

type Deps = {
  charging: Pick<ChargingService, 'run'>
  engines: Pick<EngineService, 'speak' | 'transcribe' | 'hasSound'>
  clock: Clock
  settings: Values<typeof audioSettings>
  /** Folder of files that are gone when their request is answered. */
  folder: string
}

type Wanted = { text?: string | undefined; voice?: string | undefined; speed?: number | undefined }

export type Speech = { mp3: Uint8Array; costCents: number }

/** A form with a file on the disk. */
type Form = {
  fields: ReadonlyMap<string, string>
  file: { field: string; path: string } | null
}

/** A transcript, and when each part of it was said. */
export type Transcribed = { transcript: Transcript; segments: Transcription['segments'] }

const SPEAKS = 'svc-1-voice'
const LISTENS = 'svc-1-transcribe'
/** The fewest characters that any language takes for a minute, for the hold: what is charged is the time it took. */
const CHARS_A_MINUTE = 200
/** A recording whose length cannot be told counts as one of 32 kbit/s. */
const BYTES_A_MINUTE = 240_000

export type Audio = ReturnType<typeof createAudio>

/** The path of the program that speaks where no upstream does; null where it is off or not here. */
export const localSpeaker = ({ ttsLocal }: Pick<Values<typeof audioSettings>, 'ttsLocal'>): string | null =>
  ttsLocal ? Bun.which(ttsLocal) : null

/** Speech from text and text from speech, and their aliases (contract 6, 28.1). */
export function createAudio({ charging, engines, clock, settings, folder }: Deps) {
  const recordings = createRecordings()
  const program = localSpeaker(settings)
  const local = program ? createLocalSpeech({ program, folder, clock }) : null
  return { speak, transcribe }

  /**
   * Speaks a text, as MP3. `field` is what the request calls the text. Throws 400 `missing_text`, 502
   * `tts_provider_error`, 503 `tts_unavailable`, and what every making throws.
   */
  async function speak(call: Call, { text = '', voice, speed = 1 }: Wanted, field = 'text'): Promise<Speech> {
    if (isBlank(text)) throw missingText(field)
    const isLocal = !engines.hasSound(SPEAKS)
    if (isLocal && !local) throw ttsUnavailable.with({ retryAfterS: 60 })
    const how = { voice: voiceOf(voice), speed }
    const make = async (work: Work) => {
      const { mp3, seconds } = await spoken(call, work, work.texts[field]!, how)
      return { used: { minutes: seconds / 60 }, files: [], mp3 }
    }
    return charging.run(call, {
      kind: 'tts',
      // The header of the answer names it (contract 1.3).
      id: call.requestId,
      mode: 'tts',
      engineId: SPEAKS,
      free: isLocal,
      texts: { [field]: text },
      max: { minutes: text.length / CHARS_A_MINUTE / speed },
      make,
      answer: ({ made, costCents }) => ({ mp3: made.mp3, costCents }),
    })
  }

  async function spoken(call: Call, { signal, owner }: Work, text: string, how: { voice: Voice; speed: number }) {
    try {
      if (!engines.hasSound(SPEAKS)) return await local!({ text, ...how, owner, signal })
      const voice = settings.ttsVoices[how.voice] ?? UPSTREAM_VOICES[how.voice]
      const mp3 = await engines.speak({ text, voice, speed: how.speed, signal, origin: originOf(call) })
      return { mp3, seconds: await recordings.secondsOf(mp3, signal, ownerOf(call.caller)) }
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof AppError && error.kind === 'invalid') throw error
      throw ttsProviderError.with({ cause: error })
    }
  }

  /**
   * Writes down what is said in the part `file` of a form. Throws 400 `missing_file`, 415, 502 `stt_provider_error`,
   * 503 `stt_unavailable`, and what every making throws.
   */
  async function transcribe(call: Call, { fields, file }: Form): Promise<Transcribed> {
    if (file?.field !== 'file' || Bun.file(file.path).size === 0) throw missingFile()
    const language = languageIn(fields)
    const recording = await recordings.look(file.path, call.signal, ownerOf(call.caller))
    if (!engines.hasSound(LISTENS)) throw sttUnavailable.with({ retryAfterS: 60 })
    const id = TranscriptId.create()
    const minutes = recording.seconds === null ? Bun.file(file.path).size / BYTES_A_MINUTE : recording.seconds / 60
    return charging.run(call, {
      kind: 'stt',
      id,
      mode: 'stt',
      engineId: LISTENS,
      free: false,
      texts: {},
      max: { minutes },
      make: async (work) => ({
        used: { minutes },
        files: [],
        ...(await written(call, work, file.path, recording, language)),
      }),
      answer: ({ made, costCents, at }) => ({
        transcript: {
          id,
          object: 'transcript' as const,
          created: iso(at),
          text: made.text,
          language: made.language ?? language ?? null,
          duration_seconds: recording.seconds,
          usage: { cost_cents: costCents },
        },
        segments: made.segments,
      }),
    })
  }

  async function written(call: Call, work: Work, path: string, about: Recording, language: string | undefined) {
    const heard = await heardIn(call, work.signal, path, about, language)
    const { text } = await work.guardOutput(heard.text)
    // Parts of a text that the policy changed would tell what it took out.
    const segments = text === heard.text ? heard.segments : []
    return { text, segments, language: languageCodeOf(heard.language ?? '') }
  }

  async function heardIn(
    call: Call,
    signal: AbortSignal,
    path: string,
    { filename, mimeType }: Recording,
    language: string | undefined,
  ): Promise<Transcription> {
    try {
      return await engines.transcribe({ path, filename, mimeType, language, signal, origin: originOf(call) })
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof AppError && error.kind === 'invalid') throw error
      throw sttProviderError.with({ cause: error })
    }
  }
}

function languageIn(fields: Form['fields']): string | undefined {
  const language = fields.get('language')?.trim().toLowerCase()
  if (!language) return undefined
  if (isLanguageCode(language)) return language
  throw invalidInput(
    'language',
    `"language" is ${messageOf(language)}. Send an ISO 639-1 code such as "en", or leave it out.`,
  )
}
