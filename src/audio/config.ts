import { setting } from '../kernel/config'
import { t } from '../kernel/schema'
import { UPSTREAM_VOICES, VOICES } from './voices'

const Voices = t.Object(
  Object.fromEntries(VOICES.map((voice) => [voice, t.Optional(t.String({ minLength: 1, maxLength: 200 }))])),
  { additionalProperties: false },
)

export const audioSettings = {
  ttsVoices: setting({
    env: 'SVC_TTS_VOICES',
    schema: Voices,
    default: {},
    about: `Names that the upstream has for our voices; those not set are ${JSON.stringify(UPSTREAM_VOICES)}.`,
  }),
  ttsLocal: setting({
    env: 'SVC_TTS_LOCAL',
    schema: t.String({ maxLength: 1_000 }),
    default: 'espeak-ng',
    about: 'Name or path of the espeak-ng that speaks where no upstream does; empty turns it off.',
  }),
} as const
