import { Elysia } from 'elysia'
import { reading, type Upload } from '../../http/body'
import { answer, errors } from '../../http/envelope'
import { type Guard, toCall } from '../../http/guard'
import { invalidInput, messageOf } from '../../kernel/errors'
import { checked, t } from '../../kernel/schema'
import {
  COMPAT_FORMATS,
  type CompatFormat,
  CompatSpeechInput,
  CompatTranscript,
  MAX_RECORDING_BYTES,
  SpeechInput,
  Transcript,
} from './schema'
import type { Audio, Speech, Transcribed } from './service'

const SPOKEN = {
  scope: 'completions',
  idPrefix: 'tts',
  timeLimit: 'own',
  response: { 200: answer(t.String()), ...errors(400, 401, 402, 403, 413, 415, 429, 502, 503, 504) },
} as const

const WRITTEN = {
  scope: 'completions',
  upload: MAX_RECORDING_BYTES,
  timeLimit: 'own',
} as const
const REFUSALS = errors(400, 401, 402, 403, 413, 415, 429, 502, 503, 504)

/** `/audio/tts`, `/audio/stt` and what clients of other servers call them (contract 6, 28.1). */
export const audioRoutes = ({ speak, transcribe }: Audio, guard: Guard) =>
  new Elysia({ prefix: '/audio', tags: ['Audio'] })
    .use(guard)
    .post('/tts', async (context) => mp3(await speak(toCall(context), context.body)), {
      ...SPOKEN,
      body: checked(SpeechInput),
      detail: { summary: 'Speak a text as MP3', 'x-download': 'audio/mpeg' } as object,
    })
    .post(
      '/speech',
      async (context) => {
        const { input, voice, speed } = context.body
        const name = typeof voice === 'object' ? voice.id : voice
        return mp3(await speak(toCall(context), { text: input, voice: name, speed }, 'input'))
      },
      {
        ...SPOKEN,
        body: checked(CompatSpeechInput),
        detail: {
          summary: 'Speak a text as MP3, in the format of other speech APIs',
          'x-download': 'audio/mpeg',
        } as object,
      },
    )
    .post(
      '/stt',
      (context) => reading(context.body, async (form) => (await transcribe(toCall(context), form)).transcript),
      {
        ...WRITTEN,
        response: { 200: answer(Transcript), ...REFUSALS },
        detail: {
          summary: 'Transcribe a recording',
          description:
            'MP3, MP4, MPEG, M4A, WAV, WebM or OGG of at most 25 MB. The type is read from the bytes, not from the name.',
          ...formOf({ language: { type: 'string', description: 'ISO 639-1; detected if left out' } }),
        },
      },
    )
    .post(
      '/transcriptions',
      (context) =>
        reading(context.body, async (form) => {
          const format = formatIn(form)
          const { transcript, segments } = await transcribe(toCall(context), form)
          // The framework sends a response as it is, whatever the schema.
          if (format === 'text') return plain(transcript.text) as never
          return compatOf({ transcript, segments }, format)
        }),
      {
        ...WRITTEN,
        response: { 200: answer(CompatTranscript), ...REFUSALS },
        detail: {
          summary: 'Transcribe a recording, in the format of other transcription APIs',
          ...formOf({ language: { type: 'string' }, response_format: { type: 'string', enum: [...COMPAT_FORMATS] } }),
        },
      },
    )

function mp3({ mp3, costCents }: Speech): Response {
  const headers = {
    'content-type': 'audio/mpeg',
    'content-length': String(mp3.byteLength),
    'x-cost-cents': String(costCents),
  }
  return new Response(mp3 as Uint8Array<ArrayBuffer>, { headers })
}

const plain = (text: string): Response =>
  new Response(text, { headers: { 'content-type': 'text/plain; charset=utf-8' } })

function formatIn({ fields }: Upload): CompatFormat {
  const format = fields.get('response_format') ?? 'json'
  const known = COMPAT_FORMATS.find((one) => one === format)
  if (known) return known
  throw invalidInput('response_format', `"response_format" is ${messageOf(format)}. Use ${COMPAT_FORMATS.join(', ')}.`)
}

function compatOf({ transcript, segments }: Transcribed, format: CompatFormat): CompatTranscript {
  const { text, language, duration_seconds } = transcript
  if (format === 'json') return { text }
  const numbered = segments.map((segment, id) => ({ id, ...segment }))
  return { task: 'transcribe', text, language, duration: duration_seconds, segments: numbered }
}

const formOf = (fields: Record<string, object>): object => ({
  requestBody: {
    required: true,
    content: {
      'multipart/form-data': {
        schema: {
          type: 'object',
          properties: { file: { type: 'string', contentMediaType: 'application/octet-stream' }, ...fields },
          required: ['file'],
        },
      },
    },
  },
})
