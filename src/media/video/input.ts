import type { behalfOf } from '../../accounts'
import type { AspectRatio, VideoId } from './schema'

/** A video that is to be made. */
export type Wish = {
  id: VideoId
  /** Files of a stealth one keep no prompt (docs/api.md 2.1). */
  mode: 'video' | 'stealth_video'
  prompt: string
  style: string | null
  seconds: number
  aspectRatio: AspectRatio
}

/** What is stored of an order. */
export type StoredVideo = ReturnType<typeof behalfOf> &
  Wish & {
    mode: 'video'
    requestId: string
    route: string
  }

const MINUTE_MS = 60_000

/** Contract 7. */
export const VIDEO_LIMIT_MS = 15 * MINUTE_MS

export const ENGINE = 'svc-1-motion'

export const KEY_IS_GONE = 'The key or session that requested this video is no longer valid.'

/** As the making of a video is recorded. */
export const wantedOf = ({ id, mode, prompt, seconds }: StoredVideo, free: boolean) =>
  ({ kind: 'video', id, mode, engineId: ENGINE, free, texts: { prompt }, max: { seconds } }) as const
