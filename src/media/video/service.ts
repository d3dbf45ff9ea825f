import { behalfOf } from '../../auth'
import type { Prices } from '../../billing'
import { type EngineService, engineMissing } from '../../engines'
import type { Call } from '../../kernel/caller'
import { type Clock, iso } from '../../kernel/clock'
import { type MakingService, promptIn, type Work } from '../../making'
import { type Later, type PublicJobs, pollUrlOf } from '../../public-jobs'
import { createFilmmaker } from './filmmaker'
import { createInlineVideo } from './inline'
import { createMarker } from './marker'
import { ENGINE, type StoredVideo, type Wish, wantedOf } from './order'
import { type VideoAccepted, VideoId, type VideoOrder } from './schema'
import { createUpstream } from './upstream'
import { upstreamVideoKind } from './upstream-job'
import { videoKind } from './video-job'

type Deps = Omit<Parameters<typeof videoKind>[0], 'film' | 'making'> & {
  clock: Clock
  prices: Prices
  settings: { videoMarker: string }
  /** Folder for clips on their way. */
  folder: string
  engines: Pick<EngineService, 'filmmaker'> & Parameters<typeof createUpstream>[0]['engines']
  making: Pick<MakingService, 'admit' | 'accepted' | 'resume'>
  publicJobs: Pick<PublicJobs, 'define' | 'accept' | 'later'>
}

const SECONDS = 5

type Asked = { prompt: string; seconds?: number | undefined; mode: Wish['mode'] }

export type VideoService = ReturnType<typeof createVideo>

/** Videos, as jobs (contract 6, 7): an upstream's where one is connected, else drawn here. */
export function createVideo(deps: Deps) {
  const { clock, engines, making, prices, publicJobs, settings, folder } = deps
  const program = settings.videoMarker ? Bun.which(settings.videoMarker) : null
  const film = createFilmmaker()
  const upstream = createUpstream({ ...deps, mark: createMarker({ program, folder, clock }) })
  const drawn = videoKind({ ...deps, film })
  const bought = upstreamVideoKind({ ...deps, upstream })
  const inline = createInlineVideo({ engines, film, upstream })
  publicJobs.define(drawn)
  publicJobs.define(bought)

  return {
    /** The most that a video within a request can cost, in micro-cents. */
    most: ({ seconds = SECONDS }: Pick<Asked, 'seconds'>): number =>
      engines.filmmaker() === 'upstream' ? prices.costOf(ENGINE, { seconds }) : 0,

    /** Makes a video within a request, which charges for it (contract 2.4). Throws 503 `engine_unavailable`, 400. */
    now(call: Call, { prompt, seconds = SECONDS, mode }: Asked, work: Pick<Work, 'keep' | 'signal'>) {
      const { free } = maker()
      const wish = { id: VideoId.create(), mode, prompt, style: null, seconds, aspectRatio: '16:9' } as const
      return inline(call, wish, { ...work, free })
    },

    /**
     * A video that a request asks for on its way: its job is put in line in the commit that ends the request. Throws
     * 503 `engine_unavailable`.
     */
    async later(call: Call, { prompt, seconds = SECONDS }: Omit<Asked, 'mode'>): Promise<Later> {
      const { kind, free } = maker()
      const { requestId, route, caller } = call
      const picture = {
        id: VideoId.create(),
        mode: 'video',
        prompt,
        style: null,
        seconds,
        aspectRatio: '16:9',
      } as const
      const input: StoredVideo = { ...behalfOf(caller), ...picture, requestId, route }
      const wanted = wantedOf(input, free)
      const { accepted } = await making.resume(call, wanted)
      const hold = free ? 0 : prices.costOf(wanted.engineId, wanted.most)
      return publicJobs.later<StoredVideo>(call, kind, { input, hold, effects: accepted })
    },

    /**
     * Puts a video in line. Throws 400 `missing_prompt` or `guardrail_blocked`, 402 `insufficient_credits`, 429
     * `mode_rate_limit_exceeded`, 503 `queue_unavailable` or `engine_unavailable`.
     */
    async start(call: Call, order: VideoOrder): Promise<VideoAccepted> {
      const { duration = `${SECONDS}s`, style, aspect_ratio: aspectRatio = '16:9' } = order
      const asked = promptIn(order)
      const { kind, free } = maker()
      const id = VideoId.create()
      const { requestId, route, caller } = call
      const seconds = Number.parseInt(duration, 10)
      const picture = { id, mode: 'video', prompt: asked, style: style || null, seconds, aspectRatio } as const
      const input: StoredVideo = { ...behalfOf(caller), ...picture, requestId, route }
      const texts: Record<string, string> = { prompt: asked, ...(style ? { style } : {}) }
      const admitted = await making.admit(call, { ...wantedOf(input, free), texts })
      const { prompt = '', style: left = null } = admitted.texts
      return publicJobs.accept<StoredVideo, VideoAccepted>(call, kind, {
        input: { ...input, prompt, style: left },
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

  /** Who makes videos now, and whether for nothing. Throws 503 `engine_unavailable` when nobody does. */
  function maker() {
    const who = engines.filmmaker()
    if (who === null) throw engineMissing.with({ retryAfterS: 60 }, 'video')
    return who === 'upstream' ? { kind: bought, free: false } : { kind: drawn, free: true }
  }
}
