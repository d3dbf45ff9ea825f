import type { actingIdentityOf } from '../../accounts'
import type { AspectRatio, VideoId } from '../schema'

/** A requested video. */
export type VideoOptions = {
  id: VideoId
  /** Files of a stealth video do not store the prompt (docs/api.md 2.1). */
  mode: 'video' | 'stealth_video'
  prompt: string
  style: string | null
  seconds: number
  aspectRatio: AspectRatio
}

/** The payload of a video job. */
export type StoredVideo = ReturnType<typeof actingIdentityOf> &
  VideoOptions & {
    mode: 'video'
    requestId: string
    route: string
  }

const MINUTE_MS = 60_000

/** The limit of docs/api.md 7. */
export const VIDEO_LIMIT_MS = 15 * MINUTE_MS

export const ENGINE = 'svc-1-motion'

export const KEY_IS_GONE = 'The key or session that requested this video is no longer valid.'

/** The charge of a video. */
export const videoOptionsOf = ({ id, mode, prompt, seconds }: StoredVideo, free: boolean) =>
  ({ kind: 'video', id, mode, engineId: ENGINE, free, texts: { prompt }, max: { seconds } }) as const
