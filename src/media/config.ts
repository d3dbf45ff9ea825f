import { setting } from '../kernel/config'
import { t } from '../kernel/schema'

export const mediaSettings = {
  videoMarker: setting({
    env: 'SVC_VIDEO_MARKER',
    schema: t.String({ maxLength: 1_000 }),
    default: 'ffmpeg',
    about: 'Name or path of the ffmpeg that draws the mark of origin into videos of an upstream; empty leaves them.',
  }),
} as const
