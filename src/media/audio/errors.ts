import { AppError, defineError } from '../../kernel/errors'

const at = (field: string, message: string) => ({ param: field, details: [{ path: field, message }] })

export function missingText(field: string): AppError {
  const message = `"${field}" is missing or blank. Send the text to speak.`
  return new AppError('invalid', 'missing_text', message, at(field, message))
}

export function missingFile(): AppError {
  const message = '"file" is missing or empty. Send a recording as this part of a multipart/form-data body.'
  return new AppError('invalid', 'missing_file', message, at('file', message))
}

export function tooLongToSpeak(): AppError {
  const message = 'At this speed the speech would be longer than half an hour. Send a shorter text.'
  return new AppError('invalid', 'validation_error', message, at('text', message))
}

export const notARecording = defineError(
  'unsupported',
  'unsupported_media_type',
  (found: string) => `The file is ${found}. Send a recording as MP3, MP4, M4A, WAV, WebM, OGG or MPEG audio.`,
)

/** 502: the engine that speaks failed (contract 1.5). */
export const ttsProviderError = defineError(
  'upstream',
  'tts_provider_error',
  () => 'The voice engine failed. Nothing was charged; try again. The operator can look up this request id.',
)

/** 502: the engine that listens failed (contract 1.5). */
export const sttProviderError = defineError(
  'upstream',
  'stt_provider_error',
  () => 'The transcription engine failed. Nothing was charged; try again. The operator can look up this request id.',
)

export const ttsUnavailable = defineError(
  'unavailable',
  'tts_unavailable',
  () =>
    'This server has no voice. Its operator can install espeak-ng, or set SVC_TTS_BASE_URL to a server with /audio/speech.',
)

export const sttUnavailable = defineError(
  'unavailable',
  'stt_unavailable',
  () => 'This server cannot transcribe. Its operator can set SVC_STT_BASE_URL to a server with /audio/transcriptions.',
)

/** Why the local program gave no speech; for operators only. */
export class LocalSpeechFailure extends Error {
  override name = 'LocalSpeechFailure'
}
