import { setting } from '../kernel/config'
import { t } from '../kernel/schema'

export const mediaSettings = {
  videoMarker: setting({
    env: 'SVC_VIDEO_MARKER',
    schema: t.String({ maxLength: 1_000 }),
    default: 'ffmpeg',
    about: 'Name or path of ffmpeg, which marks upstream videos as AI-generated. Empty turns it off.',
  }),
} as const
