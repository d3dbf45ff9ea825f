import { JobId } from '../../jobs/schema'
import { form } from '../../kernel/form'
import { defineId, type Id } from '../../kernel/ids'
import { oneOf, type Static, Timestamp, t } from '../../kernel/schema'

export const VideoId = defineId('video', 'vid')
export type VideoId = Id<'video'>

/** Size in pixels of a clip, by aspect ratio. */
export const FRAMES = {
  '16:9': [1280, 720],
  '9:16': [720, 1280],
  '1:1': [720, 720],
  '4:3': [960, 720],
  '3:4': [720, 960],
} as const
export type AspectRatio = keyof typeof FRAMES

export const VideoInput = t.Object(
  {
    prompt: t.Optional(t.String({ maxLength: 32_000, description: 'Required: what to show' })),
    duration: t.Optional(
      t.String({
        pattern: form('^([1-9]|[1-5][0-9]|60)s$', 'whole seconds from 1s to 60s, such as 5s'),
        default: '5s',
        description: 'Seconds as `<n>s`, 1 to 60',
      }),
    ),
    style: t.Optional(t.String({ maxLength: 200, description: 'Such as `flat`, `retro`, `neon`' })),
    aspect_ratio: t.Optional(oneOf(Object.keys(FRAMES) as AspectRatio[])),
  },
  { $id: 'VideoOrder' },
)
export type VideoInput = Static<typeof VideoInput>

/** A job handle, because the work continues after the response. */
export const VideoAccepted = t.Object(
  {
    id: VideoId.schema,
    object: t.Literal('video'),
    job_id: JobId.schema,
    status: t.Literal('queued'),
    created: Timestamp,
    poll_url: t.String(),
  },
  { $id: 'VideoAccepted' },
)
export type VideoAccepted = Static<typeof VideoAccepted>
