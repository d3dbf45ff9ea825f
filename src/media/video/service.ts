import { once } from 'node:events'
import { actingIdentityOf } from '../../accounts'
import type { Prices } from '../../billing'
import {
  type ChargingService,
  type JobResult,
  type Later,
  type PublicJobs,
  type PublicKind,
  pollUrlOf,
  promptIn,
  type Work,
} from '../../charging'
import { EngineFailure, type EngineService, engineErrors, type Origin, originOf } from '../../engines'
import type { Draft, Files } from '../../files'
import { type About, ArtifactId } from '../../files/schema'
import { GiveUp, type Running } from '../../jobs'
import { type Call, ownerOf, type TenantCaller } from '../../kernel/caller'
import { type Clock, iso } from '../../kernel/clock'
import { AppError } from '../../kernel/errors'
import { createWorkerPool, WorkerFailure, type WorkerPool } from '../../kernel/worker-pool'
import { mediaErrors } from '../errors'
import { FRAMES, type VideoAccepted, VideoId, type VideoInput } from '../schema'
import type { Video } from './drawn.worker.ts'
import { ENGINE, KEY_IS_GONE, type StoredVideo, VIDEO_LIMIT_MS, type VideoOptions, videoOptionsOf } from './input'
import { createMarker } from './marker'
import type { ClipInput } from './storyboard'
import { createUpstream, type StoredProgress, type UpstreamProgress, type VideoContext } from './upstream'

/** Enough for a minute of video on a busy machine. */
const VIDEO_MS = 600_000

/** The context of a drawn clip. `notify` reports the percentage done, once for each second of the clip. */
type DrawnAround = Pick<VideoContext, 'signal' | 'owner' | 'notify' | 'receive'>

/** The engine name that is also used for pictures drawn here. */
const LOCAL = 'svc-local-vector'

/** A finished video, with the engine that its job names. */
type MadeVideo = Omit<StoredProgress, 'ordered'> & { engine: string }

type Around = Pick<Work, 'keep' | 'signal'> & { free: boolean }

/** A video that was made within a request. */
type InlineVideo = {
  /** The clip, and its still if there is one. */
  files: { draft: Draft; about: About }[]
  engineId: string
  free: boolean
  seconds: number
  warnings: string[]
}

const NOT_DRAWN = 'This video could not be drawn. Nothing was charged; try again shortly.'

const NOT_FETCHED = 'The engine did not return its video. Nothing was charged; try again shortly.'

type JobDeps = {
  files: Pick<Files, 'add'>
  charging: Pick<ChargingService, 'resume'>
  /** The caller on whose behalf the stored job runs, or null if it is no longer allowed. */
  callerOf(behalf: ReturnType<typeof actingIdentityOf>): Promise<TenantCaller | null>
}

const KNOWN = 'upstream'

type Deps = Pick<JobDeps, 'callerOf'> & {
  files: Pick<Files, 'receive' | 'add'>
  clock: Clock
  prices: Prices
  settings: { videoMarker: string }
  /** Folder for clips in progress. */
  folder: string
  engines: Pick<EngineService, 'videoMaker'> & Parameters<typeof createUpstream>[0]['engines']
  charging: Pick<ChargingService, 'admit' | 'accepted' | 'resume'>
  publicJobs: Pick<PublicJobs, 'define' | 'accept' | 'later'>
}

const SECONDS = 5

type Request = { prompt: string; seconds?: number | undefined; mode: VideoOptions['mode'] }

export type VideoService = ReturnType<typeof createVideo>

/** Videos as jobs (docs/api.md 6, 7), made by an upstream if one is connected, otherwise drawn here. */
export function createVideo(deps: Deps) {
  const { clock, engines, charging, prices, publicJobs, settings, folder, files } = deps
  const program = settings.videoMarker ? Bun.which(settings.videoMarker) : null
  // Draws clips by rules, one at a time, each in a process that ends when its job is cancelled.
  const pool = createWorkerPool<ClipInput, Video>({
    script: new URL('./drawn.worker.ts', import.meta.url),
    max: 1,
    idleMs: 30_000,
    memoryBytes: 1024 ** 3,
  })
  const upstream = createUpstream({ ...deps, mark: createMarker({ program, folder }) })
  // Drawing: fifteen minutes, two attempts (docs/api.md 7).
  const drawing = { name: 'media.video', retry: { attempts: 2, delayMs: () => 2_000 }, concurrency: 2 }
  const drawn = videoKind(deps, { ...drawing, concurrencyPerKey: 2 }, true, async (job) => ({
    ...(await drawnBy(pool, job.payload, {
      signal: job.signal,
      owner: job.owner!,
      notify: (percent) => job.progress(percent, 'drawing'),
      receive: files.receive,
    })),
    engine: LOCAL,
  }))
  const buying = {
    name: 'media.video-upstream',
    // Most attempts are for crashes of this server. A request that the engine rejects is sent at most twice.
    retry: { attempts: 6, delayMs: () => 2_000 },
    concurrency: 32,
    concurrencyPerKey: 8,
    remembers: true as const,
  }
  // Later attempts continue with the order of earlier ones.
  const bought = videoKind(deps, buying, false, async (job, origin) => ({
    ...(await upstream(job.payload, {
      key: job.id,
      owner: job.owner!,
      origin,
      signal: job.signal,
      known: (await job.recall(KNOWN)) as UpstreamProgress | null,
      keep: (known) => job.keep(KNOWN, known),
      // The job loses what it remembers when it ends.
      isOver: async () => job.signal.aborted && !(await job.recall(KNOWN)),
      notify: (percent) => job.progress(percent, 'making'),
      receive: files.receive,
    })),
    engine: 'svc-vision',
  }))
  publicJobs.define(drawn)
  publicJobs.define(bought)

  return {
    /** The maximum cost of a video within a request, in micro-cents. */
    max: ({ seconds = SECONDS }: Pick<Request, 'seconds'>): number =>
      engines.videoMaker() === 'upstream' ? prices.costOf(ENGINE, { seconds }) : 0,

    /** Makes a video within a request, which charges for it (docs/api.md 2.4). Throws 503 `engine_unavailable`, 400. */
    now(call: Call, { prompt, seconds = SECONDS, mode }: Request, work: Pick<Work, 'keep' | 'signal'>) {
      const { free } = maker()
      const options = { id: VideoId.create(), mode, prompt, style: null, seconds, aspectRatio: '16:9' } as const
      return inline(call, options, { ...work, free })
    },

    /**
     * Prepares a video job of a running request. The commit that ends the request enqueues the job. Throws 503
     * `engine_unavailable`.
     */
    async later(call: Call, { prompt, seconds = SECONDS }: Omit<Request, 'mode'>): Promise<Later> {
      const { kind, free } = maker()
      const input = storedOf(call, { prompt, style: null, seconds, aspectRatio: '16:9' })
      const wanted = videoOptionsOf(input, free)
      const { accepted } = await charging.resume(call, wanted)
      const hold = free ? 0 : prices.costOf(wanted.engineId, wanted.max)
      return publicJobs.later<StoredVideo>(call, kind, { input, hold, effects: accepted })
    },

    /**
     * Enqueues a video. Throws 400 `missing_prompt` or `guardrail_blocked`, 402 `insufficient_credits`, 429
     * `mode_rate_limit_exceeded`, 503 `queue_unavailable` or `engine_unavailable`.
     */
    async start(call: Call, params: VideoInput): Promise<VideoAccepted> {
      const { duration = `${SECONDS}s`, style, aspect_ratio: aspectRatio = '16:9' } = params
      const question = promptIn(params)
      const { kind, free } = maker()
      const seconds = Number.parseInt(duration, 10)
      const input = storedOf(call, { prompt: question, style: style || null, seconds, aspectRatio })
      const texts: Record<string, string> = { prompt: question, ...(style ? { style } : {}) }
      const admitted = await charging.admit(call, { ...videoOptionsOf(input, free), texts })
      const { prompt = '', style: left = null } = admitted.texts
      return publicJobs.accept<StoredVideo, VideoAccepted>(call, kind, {
        input: { ...input, prompt, style: left },
        hold: admitted.hold,
        answer: (jobId) => ({
          id: input.id,
          object: 'video',
          job_id: jobId,
          status: 'queued',
          created: iso(clock.now()),
          poll_url: pollUrlOf(jobId),
        }),
        effects: (tx, jobId) => charging.accepted(tx, admitted.charging, jobId),
      })
    },
  }

  /** The job kind for videos now, and whether they are free. Throws 503 `engine_unavailable` if nothing makes them. */
  function maker() {
    const who = engines.videoMaker()
    if (who === null) throw engineErrors.engineMissing.with({ retryAfterS: 60 }, 'video')
    return who === 'upstream' ? { kind: bought, free: false } : { kind: drawn, free: true }
  }

  /**
   * Makes a video within a request. An abort of `signal` ends it and cancels the order at the upstream. Throws 503
   * `engine_unavailable`, 400 if the engine rejects the prompt.
   */
  async function inline(call: Call, options: VideoOptions, { free, keep, signal }: Around): Promise<InlineVideo> {
    const around = { signal, owner: ownerOf(call.caller), notify: () => {}, receive: keep }
    try {
      const { seconds, warnings, ...made } = free
        ? await drawnBy(pool, options, around)
        : await boughtNow(call, options, around)
      const files = [made.clip, ...(made.still ? [made.still] : [])]
      return { files, engineId: ENGINE, free, seconds, warnings }
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof GiveUp)
        throw error.cause instanceof AppError ? error.cause : mediaErrors.videoNotMade(error.message)
      if (error instanceof WorkerFailure) throw mediaErrors.videoNotMade(NOT_DRAWN)
      throw error instanceof EngineFailure ? mediaErrors.videoNotMade.with({ cause: error }, NOT_FETCHED) : error
    }
  }

  async function boughtNow(call: Call, options: VideoOptions, around: DrawnAround) {
    const { signal } = around
    const stealth = options.mode === 'stealth_video'
    signal.throwIfAborted()
    const aborted = once(signal, 'abort').then((): never => {
      throw signal.reason
    })
    const making = upstream(options, {
      ...around,
      key: options.id,
      origin: { ...originOf(call), stealth },
      known: null,
      keep: async () => {},
      isOver: async () => true,
    })
    // A request in flight completes in the background and is then dropped. The caller does not wait for it.
    const made = await Promise.race([making, aborted])
    if (stealth) void engines.dropVideo(made.ordered)
    return made
  }
}

function storedOf(
  { caller, requestId, route }: Call,
  picture: Pick<VideoOptions, 'prompt' | 'style' | 'seconds' | 'aspectRatio'>,
): StoredVideo {
  return { ...actingIdentityOf(caller), id: VideoId.create(), mode: 'video', ...picture, requestId, route }
}

/** A job that makes a video and stores its files (docs/api.md 6, 7). */
function videoKind(
  { files, charging, callerOf }: JobDeps,
  limits: Omit<PublicKind<StoredVideo>, 'shown' | 'timeLimitMs' | 'run'>,
  free: boolean,
  make: (job: Running<StoredVideo>, origin: Origin) => Promise<MadeVideo>,
): PublicKind<StoredVideo> {
  return { ...limits, shown: 'video', timeLimitMs: VIDEO_LIMIT_MS, run }

  async function run(job: Running<StoredVideo>): Promise<JobResult> {
    const { requestId, route } = job.payload
    const caller = await callerOf(job.payload)
    if (!caller) throw new GiveUp(KEY_IS_GONE)
    const call: Call = { caller, requestId, route, signal: job.signal }
    const { delivered } = await charging.resume(call, videoOptionsOf(job.payload, free))
    const { clip, still, seconds, cost, warnings, engine } = await make(job, originOf(call))
    const stillId = still && ArtifactId.create()
    return {
      file: free ? clip : { draft: clip.draft, about: { ...clip.about, costMicro: cost } },
      data: { poster_artifact_id: stillId, engine, ...(warnings.length ? { warnings } : {}) },
      cost,
      effects: async (tx) => {
        const by = { requestId, jobId: job.id }
        if (still && stillId) await files.add(tx, job.owner!, still.draft, { ...still.about, ...by }, stillId)
        await delivered(tx, { used: { seconds } }, cost)
      },
    }
  }
}

/** Draws a video in a process and stores its clip and poster. */
async function drawnBy(
  pool: WorkerPool<ClipInput, Video>,
  options: VideoOptions,
  { receive, owner: who, ...watch }: DrawnAround,
) {
  const { id, mode, prompt, style, seconds, aspectRatio } = options
  const [width, height] = FRAMES[aspectRatio]
  const input = { prompt, style, width, height, seconds }
  const { mp4, poster } = await pool.run(input, { timeoutMs: VIDEO_MS, who, ...watch })
  const shared = { engine: LOCAL, model: ENGINE, width, height, prompt: mode === 'video' ? prompt : null }
  const clip: About = { type: 'video', filename: `${id}.mp4`, durationSeconds: seconds, ...shared }
  const still: About = { type: 'image', filename: `${id}.png`, ...shared }
  return {
    clip: { draft: await receive(mp4, 'video/mp4'), about: clip },
    still: { draft: await receive(poster, 'image/png'), about: still },
    seconds,
    cost: 0,
    warnings: [],
  }
}
