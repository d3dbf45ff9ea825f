import type { Prices } from '../../billing'
import {
  EngineFailure,
  type EngineService,
  imagePrompt,
  type Origin,
  type UpstreamVideo,
  VideoOutcomeUnknown,
} from '../../engines'
import { type Draft, imageSize, type Source } from '../../files'
import type { About } from '../../files/schema'
import { GiveUp } from '../../jobs'
import type { Clock } from '../../kernel/clock'
import { AppError } from '../../kernel/errors'
import { mediaErrors } from '../errors'
import { FRAMES } from '../schema'
import { ENGINE, VIDEO_LIMIT_MS, type VideoOptions } from './input'
import type { Marker } from './marker'

type Deps = {
  clock: Clock
  engines: Pick<EngineService, 'requestVideo' | 'lookAtVideo' | 'videoContent' | 'dropVideo' | 'videoFailed'>
  prices: Prices
  mark: Marker
}

/** The known state of a request at the upstream. */
export type UpstreamProgress = {
  /** When it was first ordered, in epoch milliseconds, and how often it was rejected since. */
  since: number
  refusals: number
  /** A request was sent and its response has not arrived. */
  asking: boolean
  video: UpstreamVideo | null
}

/** Context of a video: its owner, and callbacks for its state. */
export type VideoContext = {
  /** Idempotency key of the request, so that the upstream does not accept the same one twice. */
  key: string
  owner: string
  origin: Origin
  signal: AbortSignal
  /** What an earlier attempt stored. */
  known: UpstreamProgress | null
  keep(known: UpstreamProgress): Promise<void>
  /** After a failure, whether no later attempt will follow. */
  isOver(): Promise<boolean>
  /** Reports the percentage done. */
  notify(percent: number): void
  receive(bytes: Source, mimeType: string): Promise<Draft>
}

export type StoredProgress = {
  clip: { draft: Draft; about: About }
  still: { draft: Draft; about: About } | null
  seconds: number
  /** In micro-cents. */
  cost: number
  warnings: string[]
  ordered: UpstreamVideo
}

type Clip = { seconds: number | null; width: number | null; height: number | null }

const SHORTEST_POLL_MS = 1_000
const LONGEST_POLL_MS = 10_000
/** Rejections of a request before it is given up (docs/api.md 7). */
const MAX_REFUSALS = 2
/** Consecutive polls without an answer, and with the answer that there is no such video. */
const MAX_SILENT = 30
const MAX_UNKNOWN = 3

const IN_DOUBT =
  'The engine may or may not have accepted this request, so it was not repeated. Nothing was charged; request the video again.'
const NOT_MADE = 'The engine could not create this video. Nothing was charged.'
const NOT_ALLOWED =
  'The engine refused to create this video because of its content rules. Nothing was charged; rephrase the prompt.'
const LOST = 'The engine no longer answers for this video. Nothing was charged.'
const NO_VIDEO = 'The answer of the engine is not a video. Nothing was charged.'
const TOO_LONG = `It took longer than ${VIDEO_LIMIT_MS / 1_000} seconds.`
const UNMARKED = 'This server could not mark this video as AI-generated.'

/**
 * Requests a video from an upstream and follows it by its id, across restarts and processes. A request that the
 * upstream may have received is never sent again. Throws {@link GiveUp} if there will be no video.
 */
export function createUpstream({ clock, engines, prices, mark }: Deps) {
  return async function makeVideo(options: VideoOptions, around: VideoContext): Promise<StoredProgress> {
    if (around.known?.asking) throw new GiveUp(IN_DOUBT)
    const { prompt, style } = options
    const described = { prompt, changes: [], style, aspectRatio: null, quality: 'standard', variant: 0 } as const
    const whole = imagePrompt({ ...described, signal: around.signal })
    const { video, since } = around.known?.video
      ? { video: around.known.video, since: around.known.since }
      : await request(options, around, whole)
    try {
      const clip = await followed(video, since, around)
      return await received(options, around, { video, clip, whole })
    } catch (error) {
      if (error instanceof GiveUp || (await around.isOver())) await engines.dropVideo(video)
      throw error
    }
  }

  /** Sends the request once. Stores its state before. The request completes even if this attempt is aborted. */
  async function request(
    { seconds, aspectRatio }: VideoOptions,
    { known, key, origin, keep }: VideoContext,
    prompt: string,
  ) {
    const [width, height] = FRAMES[aspectRatio]
    const request: UpstreamProgress = { since: clock.now(), refusals: 0, ...known, asking: true, video: null }
    await keep(request)
    const signal = new AbortController().signal
    let video: UpstreamVideo | null = null
    try {
      video = await engines.requestVideo({ prompt, seconds, width, height, key, signal, origin })
      await keep({ ...request, asking: false, video })
      return { video, since: request.since }
    } catch (error) {
      if (video) await engines.dropVideo(video)
      if (video) throw error
      if (error instanceof VideoOutcomeUnknown) throw new GiveUp(IN_DOUBT)
      const refusals = request.refusals + 1
      const isLast = refusals >= MAX_REFUSALS || (error instanceof AppError && error.kind === 'invalid')
      if (isLast) throw new GiveUp(error instanceof AppError ? error.message : NOT_MADE, { cause: error })
      await keep({ ...request, asking: false, refusals })
      throw error
    }
  }

  /** Polls until the video is made. Throws {@link GiveUp} if it will not be made. */
  async function followed(
    video: UpstreamVideo,
    since: number,
    { signal, origin, notify }: VideoContext,
  ): Promise<Clip> {
    let [silent, unknown] = [0, 0]
    for (let pause = SHORTEST_POLL_MS; ; pause = Math.min(pause * 1.5, LONGEST_POLL_MS)) {
      const state = await engines.lookAtVideo(video, signal).catch((error: unknown) => {
        signal.throwIfAborted()
        if (!(error instanceof EngineFailure)) throw error
        if (error.kind === 'config' || error.kind === 'rejected') unknown += 1
        silent += 1
        if (unknown >= MAX_UNKNOWN || silent >= MAX_SILENT) throw new GiveUp(LOST)
        return null
      })
      if (state) [silent, unknown] = [0, 0]
      if (state?.status === 'made') return state
      if (state?.status === 'failed') {
        engines.videoFailed(video, state, origin)
        throw state.refused
          ? new GiveUp(NOT_ALLOWED, { cause: mediaErrors.videoRefused(NOT_ALLOWED) })
          : new GiveUp(NOT_MADE)
      }
      if (state) notify(state.percent)
      if (clock.now() - since >= VIDEO_LIMIT_MS) throw new GiveUp(TOO_LONG)
      await clock.sleep(pause, signal)
      signal.throwIfAborted()
    }
  }

  async function received(
    { id, mode, seconds: wanted, aspectRatio }: VideoOptions,
    { owner, signal, receive }: VideoContext,
    { video, clip, whole }: { video: UpstreamVideo; clip: Clip; whole: string },
  ): Promise<StoredProgress> {
    const [wide, tall] = FRAMES[aspectRatio]
    const size = { width: clip.width ?? wide, height: clip.height ?? tall }
    const content = engines.videoContent(video, 'video', signal)
    const { draft, isMarked } = await mark(content, { ...size, owner, signal }, (bytes) => receive(bytes, 'video/mp4'))
    if (!draft.mimeType.startsWith('video/')) throw new GiveUp(NO_VIDEO)
    const shared = { engine: 'svc-vision', model: ENGINE, prompt: mode === 'video' ? whole : null }
    const still = await stillOf(id, video, { signal, receive })
    const seconds = clip.seconds ?? wanted
    const filename = `${id}.${draft.extension ?? 'mp4'}`
    return {
      clip: { draft, about: { type: 'video', filename, durationSeconds: seconds, ...shared, ...size } },
      still: still && { draft: still.draft, about: { ...still.about, ...shared } },
      seconds,
      cost: prices.costOf(ENGINE, { seconds: Math.min(seconds, wanted) }),
      warnings: isMarked ? [] : [UNMARKED],
      ordered: video,
    }
  }

  /** The still that the upstream offers, or null. */
  async function stillOf(
    id: string,
    video: UpstreamVideo,
    { signal, receive }: Pick<VideoContext, 'signal' | 'receive'>,
  ) {
    try {
      const bytes = Buffer.concat(await Array.fromAsync(engines.videoContent(video, 'thumbnail', signal)))
      const size = imageSize(bytes)
      if (!size) return null
      const draft = await receive(bytes, `image/${size.format.toLowerCase()}`)
      const filename = `${id}.${draft.extension ?? 'png'}`
      return { draft, about: { type: 'image', filename, width: size.width, height: size.height } as const }
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof EngineFailure) return null
      throw error
    }
  }
}
