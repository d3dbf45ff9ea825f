import { SPEECH_FORMATS, type SpeechFormat } from '../../engines'
import { defineId } from '../../kernel/ids'
import { namedObject, nullable, oneOf, type Static, Timestamp, t } from '../../kernel/schema'
import { VOICE_NAMES } from './voices'

export const TranscriptId = defineId('transcript', 'stt')
export type TranscriptId = Static<typeof TranscriptId.schema>

/** Limits of docs/api.md 6. */
const MAX_TEXT_CHARS = 4_096
export const MAX_RECORDING_BYTES = 25 * 1024 * 1024

const speed = t.Optional(t.Number({ minimum: 0.25, maximum: 4, description: '1 is the normal speed' }))
const voice = t.Optional(t.String({ maxLength: 200, description: `${VOICE_NAMES.join(', ')}; others are the first` }))

/** The text is required. Without it, the answer is `missing_text`. */
export const SpeechInput = namedObject('SpeechOrder', {
  text: t.Optional(t.String({ maxLength: MAX_TEXT_CHARS, description: 'Required: the text to speak' })),
  voice,
  speed,
})
export type SpeechInput = Static<typeof SpeechInput>

/** The same in the format of clients of other servers (docs/api.md 28.1). */
export const CompatSpeechInput = namedObject('CompatSpeechOrder', {
  input: t.Optional(t.String({ maxLength: MAX_TEXT_CHARS, description: 'Required: the text to speak' })),
  voice: t.Optional(t.Union([t.String({ maxLength: 200 }), t.Object({ id: t.String({ maxLength: 200 }) })])),
  speed,
  response_format: t.Optional(
    oneOf(Object.keys(SPEECH_FORMATS) as SpeechFormat[], {
      description: 'Default mp3; the others where the voice engine makes them or ffmpeg is installed',
    }),
  ),
  instructions: t.Optional(t.String({ maxLength: 4_096, description: 'How it is to sound, for engines that can' })),
  stream_format: t.Optional(oneOf(['audio', 'sse'] as const, { description: 'sse: events with the sound in base64' })),
})
export type CompatSpeechInput = Static<typeof CompatSpeechInput>

export const Transcript = namedObject('Transcript', {
  id: TranscriptId.schema,
  object: t.Literal('transcript'),
  created: Timestamp,
  text: t.String(),
  language: nullable(t.String({ description: 'ISO 639-1' })),
  duration_seconds: nullable(t.Number()),
  usage: t.Object({ cost_cents: t.Number() }),
})
export type Transcript = Static<typeof Transcript>

const Segment = t.Object({ id: t.Integer(), start: t.Number(), end: t.Number(), text: t.String() })

const Word = t.Object({ word: t.String(), start: t.Number(), end: t.Number() })

/** The answer for `response_format` `json` and `verbose_json`. For others it is plain text (docs/api.md 28.1, 32.5). */
export const CompatTranscript = namedObject('CompatTranscript', {
  text: t.String(),
  task: t.Optional(oneOf(['transcribe', 'translate'] as const)),
  duration: t.Optional(nullable(t.Number())),
  language: t.Optional(nullable(t.String())),
  segments: t.Optional(t.Array(Segment)),
  words: t.Optional(t.Array(Word)),
})
export type CompatTranscript = Static<typeof CompatTranscript>

export const COMPAT_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const
export type CompatFormat = (typeof COMPAT_FORMATS)[number]
