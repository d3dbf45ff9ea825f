import type { behalfOf } from '../../auth'
import type { Prices } from '../../billing'
import {
  EngineFailure,
  type EngineService,
  imagePrompt,
  type OrderedVideo,
  originOf,
  VideoInDoubt,
} from '../../engines'
import { type Draft, type Files, imageSize } from '../../files'
import { type About, ArtifactId } from '../../files/schema'
import { GiveUp, type Running } from '../../jobs'
import type { Call, TenantCaller } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import { AppError } from '../../kernel/errors'
import type { Tx } from '../../kernel/store'
import type { MakingService } from '../../making'
import type { Made, PublicKind } from '../../public-jobs'
import type { Marker } from './marker'
import { ENGINE, isSecret, KEY_IS_GONE, type StoredVideo, VIDEO_LIMIT_MS, wantedOf } from './order'
import { FRAMES } from './schema'

type Deps = {
  clock: Clock
  engines: Pick<EngineService, 'orderVideo' | 'lookAtVideo' | 'videoContent' | 'dropVideo' | 'videoFailed'>
  prices: Prices
  files: Pick<Files, 'receive' | 'add'>
  making: Pick<MakingService, 'resume'>
  mark: Marker
  /** The caller as whom stored work runs; null when it may not any more. */
  callerOf(behalf: ReturnType<typeof behalfOf>): Promise<TenantCaller | null>
}

/** What later tries know of the order at the upstream. */
type Known = {
  /** When it was first asked for, and how often it was turned down since. Epoch milliseconds. */
  since: number
  refusals: number
  /** An order is on its way, and its answer is not here yet. */
  asking: boolean
  video: OrderedVideo | null
}

type Clip = { seconds: number | null; width: number | null; height: number | null }

const KNOWN = 'upstream'
const SHORTEST_POLL_MS = 1_000
const LONGEST_POLL_MS = 10_000
/** Refusals of an order before the job fails (contract 7). */
const MOST_REFUSALS = 2
/** Looks in a row without an answer, and with the answer that there is no such video. */
const MOST_SILENT = 30
const MOST_UNKNOWN = 3

const IN_DOUBT =
  'The engine may or may not have taken this order, so it was not repeated. Nothing was charged; ask for the video again.'
const NOT_MADE = 'The engine could not make this video. Nothing was charged.'
const NOT_ALLOWED =
  'The engine refused to make this video by its content rules. Nothing was charged; word it in another way.'
const LOST = 'The engine does not answer for this video any more. Nothing was charged.'
const NO_VIDEO = 'The engine answered with something that is no video. Nothing was charged.'
const TOO_LONG = `It took longer than ${VIDEO_LIMIT_MS / 1_000} seconds.`
const UNMARKED = 'This server could not draw a mark of its origin into this video.'

/**
 * A video that an upstream makes, as a job (contract 6, 7). It is ordered once, and followed by the upstream's id through
 * restarts and other processes: what is not certain to be unordered is never ordered again.
 */
export function upstreamVideoKind({
  clock,
  engines,
  prices,
  files,
  making,
  mark,
  callerOf,
}: Deps): PublicKind<StoredVideo> {
  return {
    name: 'media.video-upstream',
    shown: 'video',
    // Most of them are crashes of ours: an engine that says no is asked twice.
    retry: { attempts: 6, delayMs: () => 2_000 },
    timeLimitMs: VIDEO_LIMIT_MS,
    concurrency: 32,
    concurrencyPerKey: 8,
    remembers: true,
    isSecret,
    run,
  }

  async function run(job: Running<StoredVideo>): Promise<Made> {
    const { requestId, route, prompt, style } = job.payload
    const caller = await callerOf(job.payload)
    if (!caller) throw new GiveUp(KEY_IS_GONE)
    const call: Call = { caller, requestId, route, signal: job.signal }
    const { delivered } = await making.resume(call, wantedOf(job.payload, false))
    const known = (await job.recall(KNOWN)) as Known | null
    if (known?.asking) throw new GiveUp(IN_DOUBT)
    const whole = imagePrompt({
      prompt,
      changes: [],
      style,
      aspectRatio: null,
      quality: 'standard',
      variant: 0,
      signal: job.signal,
    })
    const { video, since } = known?.video
      ? (known as Known & { video: OrderedVideo })
      : await order(job, call, whole, known)
    try {
      const clip = await followed(job, call, video, since)
      return await kept(job, video, clip, whole, delivered)
    } catch (error) {
      if (error instanceof GiveUp || (job.signal.aborted && !(await job.recall(KNOWN)))) await engines.dropVideo(video)
      throw error
    }
  }

  /** Orders it, once. What is on its way is written down before, and is let finish whatever becomes of this run. */
  async function order(job: Running<StoredVideo>, call: Call, prompt: string, known: Known | null) {
    const { seconds, aspectRatio, mode } = job.payload
    const [width, height] = FRAMES[aspectRatio]
    const asked: Known = { since: clock.now(), refusals: 0, ...known, asking: true, video: null }
    await job.keep(KNOWN, asked)
    const origin = { ...originOf(call), stealth: mode === 'stealth_video' }
    const signal = new AbortController().signal
    let video: OrderedVideo | null = null
    try {
      video = await engines.orderVideo({ prompt, seconds, width, height, key: job.id, signal, origin })
      await job.keep(KNOWN, { ...asked, asking: false, video })
      return { video, since: asked.since }
    } catch (error) {
      if (video) await engines.dropVideo(video)
      if (video) throw error
      if (error instanceof VideoInDoubt) throw new GiveUp(IN_DOUBT)
      const refusals = asked.refusals + 1
      const isLast = refusals >= MOST_REFUSALS || (error instanceof AppError && error.kind === 'invalid')
      if (isLast) throw new GiveUp(error instanceof AppError ? error.message : NOT_MADE)
      await job.keep(KNOWN, { ...asked, asking: false, refusals })
      throw error
    }
  }

  /** Looks at it until it is made. Throws {@link GiveUp} when it will not be. */
  async function followed(job: Running<StoredVideo>, call: Call, video: OrderedVideo, since: number): Promise<Clip> {
    let [silent, unknown] = [0, 0]
    for (let pause = SHORTEST_POLL_MS; ; pause = Math.min(pause * 1.5, LONGEST_POLL_MS)) {
      const state = await engines.lookAtVideo(video, job.signal).catch((error: unknown) => {
        job.signal.throwIfAborted()
        if (!(error instanceof EngineFailure)) throw error
        if (error.kind === 'config' || error.kind === 'rejected') unknown += 1
        silent += 1
        if (unknown >= MOST_UNKNOWN || silent >= MOST_SILENT) throw new GiveUp(LOST)
        return null
      })
      if (state) [silent, unknown] = [0, 0]
      if (state?.status === 'made') return state
      if (state?.status === 'failed') {
        const origin = { ...originOf(call), stealth: isSecret(job.payload) }
        engines.videoFailed(video, state, origin)
        throw new GiveUp(state.refused ? NOT_ALLOWED : NOT_MADE)
      }
      if (state) job.progress(state.percent, 'making')
      if (clock.now() - since >= VIDEO_LIMIT_MS) throw new GiveUp(TOO_LONG)
      await clock.sleep(pause, job.signal)
      job.signal.throwIfAborted()
    }
  }

  async function kept(
    job: Running<StoredVideo>,
    video: OrderedVideo,
    clip: Clip,
    whole: string,
    delivered: (tx: Tx, made: { used: { seconds: number } }, cost: number) => Promise<void>,
  ): Promise<Made> {
    const { id, mode, seconds: wanted, aspectRatio } = job.payload
    const [wide, tall] = FRAMES[aspectRatio]
    const size = { width: clip.width ?? wide, height: clip.height ?? tall }
    const content = engines.videoContent(video, 'video', job.signal)
    const wants = { ...size, owner: job.owner!, signal: job.signal }
    const { draft, isMarked } = await mark(content, wants, (bytes) => files.receive(bytes, 'video/mp4'))
    if (!draft.mimeType.startsWith('video/')) throw new GiveUp(NO_VIDEO)
    const still = await stillOf(job, video)
    const seconds = clip.seconds ?? wanted
    const cost = prices.costOf(ENGINE, { seconds: Math.min(seconds, wanted) })
    const shared = { engine: 'svc-vision', model: ENGINE, prompt: mode === 'video' ? whole : null }
    const about: About = {
      ...{ type: 'video', filename: `${id}.${draft.extension ?? 'mp4'}`, durationSeconds: seconds },
      ...shared,
      ...size,
      costMicro: cost,
    }
    return {
      file: { draft, about },
      data: {
        poster_artifact_id: still?.id ?? null,
        engine: 'svc-vision',
        ...(isMarked ? {} : { warnings: [UNMARKED] }),
      },
      cost,
      effects: async (tx) => {
        if (still) await files.add(tx, job.owner!, still.draft, { ...still.about, ...shared }, still.id)
        await delivered(tx, { used: { seconds } }, cost)
        // Nothing of it stays at the upstream either.
        if (isSecret(job.payload)) tx.afterCommit(() => void engines.dropVideo(video))
      },
    }
  }

  /** The upstream's still of it; null where it has none. */
  async function stillOf(job: Running<StoredVideo>, video: OrderedVideo) {
    try {
      const bytes = Buffer.concat(await Array.fromAsync(engines.videoContent(video, 'thumbnail', job.signal)))
      const size = imageSize(bytes)
      if (!size) return null
      const draft: Draft = await files.receive(bytes, `image/${size.format.toLowerCase()}`)
      const filename = `${job.payload.id}.${draft.extension ?? 'png'}`
      const about = { type: 'image', filename, width: size.width, height: size.height } as const
      return { id: ArtifactId.create(), draft, about }
    } catch (error) {
      job.signal.throwIfAborted()
      if (error instanceof EngineFailure) return null
      throw error
    }
  }
}
