import { Elysia } from 'elysia'
import { reading } from '../http/body'
import { answer, errors, FILE_PART, formBody } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { checked, checkedQuery, t } from '../kernel/schema'
import { MAX_RECORDING_BYTES, SpeechInput, Transcript } from './audio/schema'
import { type Audio, soundOf } from './audio/service'
import type { CodeService } from './code'
import type { Documents } from './documents/service'
import type { ImageService } from './images'
import {
  CodeInput,
  DocumentInput,
  ImageInput,
  Images,
  MadeCode,
  MadeDocument,
  VideoAccepted,
  VideoInput,
} from './schema'
import type { VideoService } from './video/service'

/** Options of routes that make something within the request. */
const MADE = { scope: 'completions', idempotent: true, timeLimit: 'own' } as const
const REFUSALS = errors(400, 401, 402, 403, 409, 413, 415, 429, 500, 503, 504)

/** `POST /images` (docs/api.md 6). */
export const imageRoutes = (images: ImageService, guard: Guard) =>
  new Elysia({ tags: ['Images'] })
    .use(guard)
    .post('/images', (context) => images.create(toCall(context), context.body), {
      ...MADE,
      body: checked(ImageInput),
      response: { 200: answer(Images), ...REFUSALS },
      detail: {
        summary: 'Make pictures',
        description:
          'Without an image engine the server draws simple vector illustrations; their engine is `svc-local-vector`.',
      },
    })

/** `POST /code` (docs/api.md 6). */
export const codeRoutes = (code: CodeService, guard: Guard) =>
  new Elysia({ tags: ['Code'] }).use(guard).post(
    '/code',
    (context) => {
      context.server?.timeout(context.request, 0)
      return code.create(toCall(context), context.body)
    },
    {
      ...MADE,
      body: checked(CodeInput),
      response: { 200: answer(MadeCode), ...REFUSALS },
      detail: {
        summary: 'Write code, as files that are checked',
        description:
          'Each file of the answer is an artifact with its text; several named files are also one archive. The syntax ' +
          'is checked where possible, and `checks` has the results. Nothing is run.',
      },
    },
  )

const ById = checkedQuery(t.Object({ id: t.String() }))

/** `/documents` (docs/api.md 6). */
export const documentRoutes = (documents: Documents, guard: Guard) =>
  new Elysia({ tags: ['Documents'] })
    .use(guard)
    .post(
      '/documents',
      (context) => {
        context.server?.timeout(context.request, 0)
        return documents.create(toCall(context), context.body)
      },
      {
        ...MADE,
        body: checked(DocumentInput),
        response: {
          200: answer(MadeDocument),
          ...REFUSALS,
        },
        detail: {
          summary: 'Create a document',
          description:
            'Writes what the prompt asks for, or lays out its text and data, as `pdf`, `docx`, `pptx`, ' +
            '`xlsx` or `csv`. Pictures are the caller’s own artifacts, named as `![description](art_…)`.',
        },
      },
    )
    .get('/documents/:id', (context) => documents.get(toCall(context), context.params.id), {
      scope: 'completions',
      params: ById,
      response: { 200: answer(MadeDocument), ...errors(401, 403, 404, 429) },
      detail: { summary: 'Read a document, with a new link to its file' },
    })

/** `/video` (docs/api.md 6). */
export const videoRoutes = (video: VideoService, guard: Guard) =>
  new Elysia({ tags: ['Videos'] })
    .use(guard)
    .post('/video', async (context) => context.status(202, await video.start(toCall(context), context.body)), {
      scope: 'completions',
      idempotent: true,
      body: checked(VideoInput),
      response: { 202: answer(VideoAccepted), ...errors(400, 401, 402, 403, 409, 429, 503) },
      detail: {
        summary: 'Create a short video',
        description: 'Answers with a job. Its result is the address of an MP4 that is marked as AI-generated.',
      },
    })

const SOUND_REFUSALS = errors(400, 401, 402, 403, 413, 415, 429, 502, 503, 504)

/** `/audio/tts` and `/audio/stt` (docs/api.md 6). */
export const audioRoutes = ({ speak, transcribe }: Audio, guard: Guard) =>
  new Elysia({ prefix: '/audio', tags: ['Audio'] })
    .use(guard)
    .post('/tts', async (context) => soundOf(await speak(toCall(context), context.body)), {
      scope: 'completions',
      idPrefix: 'tts',
      timeLimit: 'own',
      response: { 200: answer(t.String()), ...SOUND_REFUSALS },
      body: checked(SpeechInput),
      detail: { summary: 'Speak a text as MP3', 'x-download': 'audio/mpeg' } as object,
    })
    .post(
      '/stt',
      (context) => reading(context.body, async (form) => (await transcribe(toCall(context), form)).transcript),
      {
        scope: 'completions',
        upload: MAX_RECORDING_BYTES,
        timeLimit: 'own',
        response: { 200: answer(Transcript), ...SOUND_REFUSALS },
        detail: {
          summary: 'Transcribe a recording',
          description:
            'MP3, MP4, MPEG, M4A, WAV, WebM or OGG of at most 25 MB. The type is read from the bytes, not from the name.',
          ...formBody(
            { file: FILE_PART, language: { type: 'string', description: 'ISO 639-1; detected if left out' } },
            ['file'],
          ),
        },
      },
    )
