import { behalfOf } from '../../auth'
import type { Call } from '../../kernel/caller'
import { type Clock, iso } from '../../kernel/clock'
import { type MakingService, promptIn } from '../../making'
import { type Later, type PublicJobs, pollUrlOf } from '../../public-jobs'
import { createFilmmaker } from './filmmaker'
import { type VideoAccepted, VideoId, type VideoOrder } from './schema'
import { ENGINE, type StoredVideo, videoKind } from './video-job'

type Deps = Omit<Parameters<typeof videoKind>[0], 'film' | 'making'> & {
  clock: Clock
  making: Pick<MakingService, 'admit' | 'accepted' | 'resume'>
  publicJobs: Pick<PublicJobs, 'define' | 'accept' | 'later'>
}

const SECONDS = 5

type Asked = { prompt: string; seconds?: number | undefined; mode: StoredVideo['mode'] }

export type VideoService = ReturnType<typeof createVideo>

/** Videos, as jobs (contract 6, 7). */
export function createVideo(deps: Deps) {
  const { clock, making, publicJobs } = deps
  const kind = videoKind({ ...deps, film: createFilmmaker(deps) })
  publicJobs.define(kind)

  return {
    /** A video that a request asks for on its way: its job is put in line in the commit that ends the request. */
    async later(call: Call, { prompt, seconds = SECONDS, mode }: Asked): Promise<Later> {
      const id = VideoId.create()
      const wanted = { kind: 'video', id, mode, engineId: ENGINE, free: true, texts: { prompt }, most: {} } as const
      const { accepted } = await making.resume(call, wanted)
      const { requestId, route, caller } = call
      const picture = { id, mode, prompt, style: null, seconds, aspectRatio: '16:9' } as const
      return publicJobs.later<StoredVideo>(call, kind, {
        input: { ...behalfOf(caller), ...picture, requestId, route },
        hold: 0,
        effects: accepted,
      })
    },

    /**
     * Puts a video in line. Throws 400 `missing_prompt` or `guardrail_blocked`, 402 `insufficient_credits`, 429
     * `mode_rate_limit_exceeded`, 503 `queue_unavailable`.
     */
    async start(call: Call, order: VideoOrder, mode: StoredVideo['mode'] = 'video'): Promise<VideoAccepted> {
      const { duration = `${SECONDS}s`, style, aspect_ratio: aspectRatio = '16:9' } = order
      const seconds = Number.parseInt(duration, 10)
      const id = VideoId.create()
      const texts: Record<string, string> = { prompt: promptIn(order), ...(style ? { style } : {}) }
      const wanted = { kind: 'video', id, mode, engineId: ENGINE, free: true, texts, most: { seconds } } as const
      const admitted = await making.admit(call, wanted)
      const { requestId, route, caller } = call
      const { prompt = '', style: left = null } = admitted.texts
      const input = { ...behalfOf(caller), id, mode, prompt, style: left, seconds, aspectRatio, requestId, route }
      return publicJobs.accept<StoredVideo, VideoAccepted>(call, kind, {
        input,
        hold: admitted.hold,
        answer: (jobId) => ({
          id,
          object: 'video',
          job_id: jobId,
          status: 'queued',
          created: iso(clock.now()),
          poll_url: pollUrlOf(jobId),
        }),
        effects: (tx, jobId) => making.accepted(tx, admitted.making, jobId),
      })
    },
  }
}
