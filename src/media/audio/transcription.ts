import type { ChargingService, Work } from '../../charging'
import { type EngineService, originOf, type Transcription } from '../../engines'
import { type Call, ownerOf } from '../../kernel/caller'
import { iso } from '../../kernel/clock'
import { AppError, invalidInput, messageOf } from '../../kernel/errors'
import { isLanguageCode, languageCodeOf } from '../../text'
import { missingFile, sttProviderError, sttUnavailable } from './errors'
import type { Recording, Recordings } from './recording'
import { type Transcript, TranscriptId } from './schema'

/** A form with a file on the disk. */
type Form = {
  fields: ReadonlyMap<string, string>
  file: { field: string; path: string } | null
}

type Deps = {
  charging: Pick<ChargingService, 'run'>
  engines: Pick<EngineService, 'transcribe' | 'hasSound'>
  recordings: Recordings
}

/** A transcript, and when each part of it was said. */
export type Transcribed = { transcript: Transcript; segments: Transcription['segments'] }

const ENGINE = 'svc-1-transcribe'
/** A recording whose length cannot be told counts as one of 32 kbit/s. */
const BYTES_A_MINUTE = 240_000

/** `POST /audio/stt` and its alias (contract 6, 28.1). */
export function createTranscription({ charging, engines, recordings }: Deps) {
  /**
   * Writes down what is said in the part `file` of a form. Throws 400 `missing_file`, 415, 502 `stt_provider_error`,
   * 503 `stt_unavailable`, and what every making throws.
   */
  return async function transcribe(call: Call, { fields, file }: Form): Promise<Transcribed> {
    if (file?.field !== 'file' || Bun.file(file.path).size === 0) throw missingFile()
    const language = languageIn(fields)
    const recording = await recordings.look(file.path, call.signal, ownerOf(call.caller))
    if (!engines.hasSound(ENGINE)) throw sttUnavailable.with({ retryAfterS: 60 })
    const id = TranscriptId.create()
    const minutes = recording.seconds === null ? Bun.file(file.path).size / BYTES_A_MINUTE : recording.seconds / 60
    return charging.run(call, {
      kind: 'stt',
      id,
      mode: 'stt',
      engineId: ENGINE,
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
