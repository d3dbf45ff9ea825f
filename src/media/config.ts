import { setting } from '../kernel/config'
import { t } from '../kernel/schema'
import { UPSTREAM_VOICES, VOICES } from './audio/voices'

export const mediaSettings = {
  videoMarker: setting({
    env: 'SVC_VIDEO_MARKER',
    schema: t.String({ maxLength: 1_000 }),
    default: 'ffmpeg',
    about:
      'Name or path of ffmpeg, which marks upstream videos as AI-generated and converts speech. Empty turns it off.',
  }),
} as const

export const documentSettings = {
  documentWaitS: setting({
    env: 'SVC_DOCUMENT_WAIT_SECONDS',
    schema: t.Integer({ minimum: 0, maximum: 90 }),
    default: 15,
    about: 'Seconds to wait for the layout of a document. Longer layouts continue as a job.',
  }),
} as const

const Voices = t.Object(
  Object.fromEntries(VOICES.map((voice) => [voice, t.Optional(t.String({ minLength: 1, maxLength: 200 }))])),
  { additionalProperties: false },
)

export const audioSettings = {
  ttsVoices: setting({
    env: 'SVC_TTS_VOICES',
    schema: Voices,
    default: {},
    about: `The upstream's names for svc's voices; defaults to ${JSON.stringify(UPSTREAM_VOICES)}.`,
  }),
  ttsLocal: setting({
    env: 'SVC_TTS_LOCAL',
    schema: t.String({ maxLength: 1_000 }),
    default: 'espeak-ng',
    about: 'Name or path of espeak-ng, which speaks if no upstream does. Empty turns it off.',
  }),
} as const
