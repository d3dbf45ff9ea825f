import { AppError, atField, defineErrors, invalidInput } from '../kernel/errors'
import { FORMATS } from './schema'

export const mediaErrors = {
  ...defineErrors('engine_unavailable', {
    notAnImage: 'The answer of the image engine is not a picture. Nothing was charged; try again shortly.',
    /** 503: an upstream or a process failed to make the video. */
    videoNotMade: (sentence: string) => sentence,
    /** 503: no connected engine translates. */
    noTranslation:
      'No engine of this server translates. Nothing was charged. Its operator can set SVC_ENGINE_BASE_URL, or "translates" of an upstream of svc-1-transcribe that has /audio/translations.',
  }),
  ...defineErrors('validation_error', {
    /** 400: drawing the picture took too much time or memory. */
    tooMuchToDraw: 'The picture has too many elements to draw. Use a shorter description.',
    /** 400: the engine cannot make the requested video. */
    videoRefused: (sentence: string) => sentence,
    tooLarge: 'The document is too large to lay out. Ask for a shorter document, or for several documents.',
  }),
  ...defineErrors('invalid_format', {
    invalidFormat: (format: string) => `"${format}" is not a document format. Send one of ${FORMATS.join(', ')}.`,
  }),
  ...defineErrors('tts_provider_error', {
    /** 502: the voice engine failed (docs/api.md 1.5). */
    ttsProviderError:
      'The voice engine failed. Nothing was charged; try again. The operator can look up this request id.',
  }),
  ...defineErrors('stt_provider_error', {
    /** 502: the transcription engine failed (docs/api.md 1.5). */
    sttProviderError:
      'The transcription engine failed. Nothing was charged; try again. The operator can look up this request id.',
  }),
  ...defineErrors('tts_unavailable', {
    ttsUnavailable:
      'This server has no voice. Its operator can install espeak-ng, or set SVC_TTS_BASE_URL to a server with /audio/speech.',
  }),
  ...defineErrors('stt_unavailable', {
    sttUnavailable:
      'This server cannot transcribe. Its operator can set SVC_STT_BASE_URL to a server with /audio/transcriptions.',
  }),
}

export const missingText = (field: string): AppError =>
  atField(new AppError('missing_text', `"${field}" is missing or blank. Send the text to speak.`), field)

export function missingFile(): AppError {
  const message = '"file" is missing or empty. Send a recording as this part of a multipart/form-data body.'
  return atField(new AppError('missing_file', message), 'file')
}

export const tooLongToSpeak = (): AppError =>
  invalidInput('text', 'At this speed the speech would be longer than half an hour. Send a shorter text.')

export function notARecording(found: string): AppError {
  const message = `The file is ${found}. Send a recording as MP3, MP4, M4A, WAV, WebM, OGG or MPEG audio.`
  return atField(new AppError('unsupported_media_type', message), 'file')
}

/** 400: neither the voice engine nor this server can write the format. */
export function speechFormatRefused(format: string, cause?: unknown): AppError {
  const message = `This server cannot write speech as "${format}". Send "response_format":"mp3", or leave it out; its operator can install ffmpeg for the other formats.`
  return new AppError('validation_error', message, {
    param: 'response_format',
    details: [{ path: 'response_format', message }],
    cause,
  })
}

/** Why the local program produced no speech. For operators only. */
export class LocalSpeechFailure extends Error {
  override name = 'LocalSpeechFailure'
}
