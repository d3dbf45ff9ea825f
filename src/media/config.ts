import { setting } from '../kernel/config'
import { t } from '../kernel/schema'

export const mediaSettings = {
  videoMarker: setting({
    env: 'SVC_VIDEO_MARKER',
    schema: t.String({ maxLength: 1_000 }),
    default: 'ffmpeg',
    about: 'Name or path of ffmpeg, which adds the mark of origin to videos from an upstream. Empty turns it off.',
  }),
} as const
