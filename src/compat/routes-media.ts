import { Elysia } from 'elysia'
import { ignoredWarning, nameIgnored } from '../completions'
import type { MadeImage } from '../engines'
import { imageSize } from '../files'
import { reading, type Upload } from '../http/body'
import type { Exchange } from '../http/context'
import { answer, errors, FILE_PART, formBody } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import type { Streams } from '../http/sse'
import { atField, defineError, invalidInput, messageOf } from '../kernel/errors'
import { checked, t } from '../kernel/schema'
import { sseFrame } from '../kernel/stream'
import { assertFits } from '../kernel/validation'
import { type Audio, type Edit, type ImageService, soundOf, type Transcribed } from '../media'
import {
  COMPAT_FORMATS,
  type CompatFormat,
  CompatSpeechInput,
  CompatTranscript,
  MAX_RECORDING_BYTES,
} from '../media/audio/schema'
import { GenerationInput, Generations, IGNORED_OF_IMAGES } from '../media/schema'
import { baseRulesOf } from './routes-bases'

type MediaEvent = { type: string } & Record<string, unknown>

const mediaFrame = (event: MediaEvent): string => sseFrame({ event: event.type, data: event })

type Context = {
  exchange: Exchange
  request: Request
  route: string
  set: { headers: Record<string, string | number> }
}
type Write = (event: MediaEvent) => void | Promise<void>

const AS_EVENTS = { frame: mediaFrame, endsWithDone: false, openingMs: 10_000 }
const MADE = { scope: 'completions', timeLimit: 'own' } as const
const REFUSALS = errors(400, 401, 402, 403, 409, 413, 415, 429, 500, 503, 504)
const SOUND_REFUSALS = errors(400, 401, 402, 403, 413, 415, 429, 502, 503, 504)

const text = { type: 'string' }

/** `/images/generations` and `/images/edits` (docs/api.md 28.1, 32.4). */
export function clientImageRoutes(images: ImageService, streams: Streams, guard: Guard) {
  function make({ set, ...context }: Context, body: GenerationInput, edit: Edit | null) {
    const call = toCall(context)
    const input = { ...body, model: baseRulesOf(context.request).model ?? body.model }
    // Members of an image order that have no effect here, and the warning about them (docs/api.md 32.4).
    const ignored = IGNORED_OF_IMAGES.filter((name) => (body as Record<string, unknown>)[name] != null)
    const warnings = ignoredWarning(ignored)
    nameIgnored(set.headers, ignored)
    if (!body.stream) return images.generate(call, input, { edit, warnings })
    const source = async (write: Write) => {
      for (const event of await images.generateEvents(call, input, { edit, warnings })) await write(event)
    }
    return streams.open({ source, ...AS_EVENTS, ...context }) as never
  }
  return new Elysia({ prefix: '/images', tags: ['Images'] })
    .use(guard)
    .post(
      '/generations',
      ({ body, exchange, request, route, set }) => make({ exchange, request, route, set }, body, null),
      {
        ...MADE,
        idempotent: true,
        body: checked(GenerationInput, { undeclared: 'kept' }),
        response: { 200: answer(Generations), ...REFUSALS },
        detail: { summary: 'Create pictures, in the format of common image APIs', 'x-streams': true } as object,
      },
    )
    .post(
      '/edits',
      async ({ body, exchange, request, route, set }) => {
        const { input, edit } = await reading(body, readEdit)
        return make({ exchange, request, route, set }, input, edit)
      },
      {
        ...MADE,
        upload: MAX_PICTURE_BYTES,
        uploads: MAX_EDIT_FILES,
        response: { 200: answer(Generations), ...REFUSALS },
        detail: {
          summary: 'Change pictures by a prompt',
          description:
            'One to four pictures, PNG, JPEG or WebP of at most 15 MiB each, with a mask if only a part may change. ' +
            'Needs an image engine that edits pictures; without one the answer is 503 `engine_unavailable`.',
          'x-streams': true,
          ...formBody(
            {
              'image[]': { type: 'array', items: FILE_PART, description: '`image` for a single picture' },
              mask: { ...FILE_PART, description: 'PNG with transparent places, as large as the first picture' },
              ...GenerationInput.properties,
            },
            ['image[]', 'prompt'],
          ),
        } as object,
      },
    )
}

/** `/audio/speech`, `/audio/transcriptions` and `/audio/translations` (docs/api.md 28.1, 32.5). */
export function clientAudioRoutes({ speak, transcribe }: Audio, streams: Streams, guard: Guard) {
  const heard = async ({ set: _, ...context }: Context, form: Upload, english: boolean) => {
    const { format, streams: streamed, ...hearing } = hearingIn(form)
    const write = () => transcribe(toCall(context), form, { ...hearing, english })
    if (!streamed) {
      const written = transcriptAs(await write(), { format, english, words: hearing.words })
      if (typeof written !== 'string') return written
      const type = `text/${format === 'vtt' ? 'vtt' : 'plain'}; charset=utf-8`
      return new Response(written, { headers: { 'content-type': type } })
    }
    const { transcript } = await write()
    return streams.open({
      async source(write: Write) {
        await write({ type: 'transcript.text.delta', delta: transcript.text })
        await write({ type: 'transcript.text.done', text: transcript.text })
      },
      ...AS_EVENTS,
      ...context,
    })
  }
  const route = (english: boolean, summary: string, properties: Record<string, object>) => ({
    handle: ({ body, exchange, request, route, set }: Context & { body: unknown }) =>
      // The framework sends a `Response` unchanged, whatever the schema.
      reading(body, (form) => heard({ exchange, request, route, set }, form, english)) as Promise<never>,
    rule: {
      ...MADE,
      upload: MAX_RECORDING_BYTES,
      response: { 200: answer(CompatTranscript), ...SOUND_REFUSALS },
      detail: {
        summary,
        ...(english ? {} : { 'x-streams': true }),
        ...formBody(
          {
            file: FILE_PART,
            response_format: { ...text, enum: [...COMPAT_FORMATS] },
            prompt: text,
            temperature: { type: 'number', minimum: 0, maximum: 1 },
            ...properties,
          },
          ['file'],
        ),
      } as object,
    },
  })
  const transcriptions = route(false, 'Transcribe a recording, in the format of other transcription APIs', {
    language: text,
    'timestamp_granularities[]': { type: 'array', items: { ...text, enum: ['segment', 'word'] } },
    stream: { type: 'boolean' },
  })
  const translations = route(true, 'Transcribe a recording in English, whatever language is spoken', {})
  return new Elysia({ prefix: '/audio', tags: ['Audio'] })
    .use(guard)
    .post(
      '/speech',
      async ({ body, exchange, request, route, set }) => {
        const { input, voice, speed, response_format: format, instructions } = body
        const name = typeof voice === 'object' ? voice.id : voice
        const call = toCall({ exchange, request, route })
        const speech = await speak(call, { text: input, voice: name, speed, format, instructions }, 'input')
        nameIgnored(set.headers, speech.ignored)
        if (body.stream_format !== 'sse') return soundOf(speech) as never
        const source = (write: Write) => writeSpeech(speech.bytes, write)
        return streams.open({ source, ...AS_EVENTS, exchange, request, route }) as never
      },
      {
        ...MADE,
        idPrefix: 'tts',
        body: checked(CompatSpeechInput),
        response: { 200: answer(t.String()), ...SOUND_REFUSALS },
        detail: {
          summary: 'Speak a text, in the format of other speech APIs',
          'x-download': 'audio/mpeg',
        } as object,
      },
    )
    .post('/transcriptions', transcriptions.handle, transcriptions.rule)
    .post('/translations', translations.handle, translations.rule)
}

/** A form with its files on the disk. */
type Form = { fields: ReadonlyMap<string, string>; files: readonly { field: string; path: string }[] }

const MAX_IMAGES = 4
/** Includes the mask. */
const MAX_EDIT_FILES = MAX_IMAGES + 1
const MAX_PICTURE_BYTES = 15 * 1024 * 1024
const NUMBERS = ['n', 'output_compression', 'partial_images']
const NUMBER = /^-?\d{1,9}(?:\.\d{1,9})?$/
const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
])

const notAPicture = defineError(
  'unsupported_media_type',
  (field: string) => `The file "${field}" is no picture that can be changed. Send PNG, JPEG or WebP.`,
)

/**
 * Reads the form of `POST /images/edits`: the members of a JSON body, and the pictures. Throws 400 `validation_error`,
 * and 415 for a file that is no picture.
 */
async function readEdit({ fields, files }: Form): Promise<{ input: GenerationInput; edit: Edit }> {
  const input = Object.fromEntries(
    [...fields].map(([name, text]) => [
      name,
      NUMBERS.includes(name) && NUMBER.test(text) ? Number(text) : name === 'stream' ? (FLAGS.get(text) ?? text) : text,
    ]),
  )
  for (const name of ['image', 'image[]', 'mask'])
    if (fields.has(name)) throw invalidInput(name, `"${name}" is a text. Send the picture as a file, with a file name.`)
  assertFits(GenerationInput, input)
  const uploads = files.filter(({ field }) => field === 'image' || field === 'image[]')
  if (!uploads.length) throw invalidInput('image', '"image" is missing. Send the picture to change as this part.')
  if (uploads.length > MAX_IMAGES) throw invalidInput('image', `Send at most ${MAX_IMAGES} pictures.`)
  const [base, ...others] = await Promise.all(uploads.map(({ path }) => pictureIn(path, 'image')))
  const masking = files.find(({ field }) => field === 'mask')
  const mask = masking ? await maskIn(masking.path, base!) : null
  return { input, edit: { base: base!, others, mask } }
}

async function pictureIn(path: string, field: string): Promise<MadeImage> {
  const bytes = new Uint8Array(await Bun.file(path).arrayBuffer())
  const format = imageSize(bytes)?.format
  if (!format || format === 'GIF') throw atField(notAPicture(field), field)
  return { bytes, mimeType: `image/${format.toLowerCase()}` }
}

/** A PNG mask with transparency, of the same size as the picture. */
async function maskIn(path: string, base: MadeImage): Promise<MadeImage> {
  const mask = await pictureIn(path, 'mask')
  const [size, wanted] = [imageSize(mask.bytes)!, imageSize(base.bytes)!]
  const isClear =
    size.format === 'PNG' && ([4, 6].includes(mask.bytes[25]!) || Buffer.from(mask.bytes).includes('tRNS'))
  if (!isClear) throw invalidInput('mask', 'The mask is no PNG with transparent places. Those are where to change.')
  if (size.width !== wanted.width || size.height !== wanted.height) {
    const sizes = `${size.width}×${size.height}, the picture ${wanted.width}×${wanted.height}`
    throw invalidInput('mask', `The mask must be as large as the first picture; it is ${sizes}.`)
  }
  return mask
}

/** Options of a transcription, from the fields of a form (docs/api.md 32.5). */
function hearingIn({ fields }: Form) {
  const format = fields.get('response_format') ?? 'json'
  const known = COMPAT_FORMATS.find((one) => one === format)
  if (!known)
    throw invalidInput(
      'response_format',
      `"response_format" is ${messageOf(format)}. Use ${COMPAT_FORMATS.join(', ')}.`,
    )
  const temperature = Number(fields.get('temperature') || Number.NaN)
  if (fields.get('temperature') && !(temperature >= 0 && temperature <= 1))
    throw invalidInput('temperature', '"temperature" must be a number from 0 to 1.')
  const stream = fields.get('stream') ?? 'false'
  if (!FLAGS.has(stream)) throw invalidInput('stream', '"stream" must be true or false.')
  const granularities = fields.get('timestamp_granularities[]')?.split(',') ?? []
  if (granularities.some((one) => one !== 'segment' && one !== 'word'))
    throw invalidInput('timestamp_granularities[]', '"timestamp_granularities[]" must be segment, word or both.')
  return {
    format: known,
    streams: FLAGS.get(stream)!,
    words: granularities.includes('word'),
    ...(fields.get('prompt') ? { prompt: fields.get('prompt')! } : {}),
    ...(Number.isNaN(temperature) ? {} : { temperature }),
  }
}

/** A transcript in the requested format: JSON, or the text of the answer. */
function transcriptAs(
  { transcript, segments, words }: Transcribed,
  { format, english = false, ...wanted }: { format: CompatFormat; words: boolean; english?: boolean },
): CompatTranscript | string {
  const { text, language, duration_seconds: duration } = transcript
  if (format === 'json') return { text }
  if (format === 'text') return text
  if (format === 'verbose_json')
    return {
      task: english ? 'translate' : 'transcribe',
      text,
      language,
      duration,
      segments: segments.map((segment, id) => ({ id, ...segment })),
      ...(wanted.words ? { words } : {}),
    }
  // If the engine gives no times, one cue lasts as long as the recording.
  const cues = segments.length ? segments : [{ start: 0, end: duration ?? 0, text }]
  const point = format === 'srt' ? ',' : '.'
  const written = cues.map(({ start, end, text: line }, at) => {
    const head = format === 'srt' ? `${at + 1}\n` : ''
    return `${head}${momentOf(start, point)} --> ${momentOf(end, point)}\n${line.replace(/\s+/g, ' ')}\n`
  })
  return `${format === 'vtt' ? 'WEBVTT\n\n' : ''}${written.join('\n')}`
}

/** `01:02:03,004`. */
function momentOf(seconds: number, point: string): string {
  const ms = Math.round(seconds * 1_000)
  const [hours, minutes, whole] = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1_000) % 60]
  const clock = [hours, minutes, whole].map((part) => String(Math.floor(part)).padStart(2, '0')).join(':')
  return `${clock}${point}${String(ms % 1_000).padStart(3, '0')}`
}

/** Bytes of audio in one event. A multiple of three, so that the Base64 of the pieces can be joined. */
const PIECE_BYTES = 24 * 1_024

/** Writes the events of a speech: pieces of audio, then the end (docs/api.md 32.5). */
async function writeSpeech(bytes: Uint8Array, write: (event: MediaEvent) => void | Promise<void>): Promise<void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const audio = Buffer.from(bytes.subarray(at, at + PIECE_BYTES)).toString('base64')
    await write({ type: 'speech.audio.delta', audio })
  }
  await write({ type: 'speech.audio.done', usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 } })
}
