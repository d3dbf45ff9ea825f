import type { Clock } from '../kernel/clock'
import type { Log } from '../kernel/log'
import { callFirst } from './answering'
import type { VideoDriver, VideoRequest, VideoState } from './engine'
import { EngineFailure } from './engine'
import type { Observe } from './health'
import type { Origin, Target, Targets } from './targets'

type Deps = { targets: Targets; clock: Clock; log: Log; observe: Observe; jitter(): number; hasBuiltin: boolean }

/** A video at an upstream: its target and its id there. Outlives the process that ordered it. */
export type UpstreamVideo = { target: string; id: string }

/** It is unknown whether the upstream accepted the request, so it must not be repeated. */
export class VideoOutcomeUnknown extends Error {
  override name = 'VideoInDoubt'
}

const ENGINE = 'svc-1-motion'

/** Requests videos from upstreams and follows them by the upstream's id. Never requests a video twice. */
export function createVideoCalls({ targets, hasBuiltin, ...deps }: Deps) {
  const own = (): readonly Target[] => (targets.get(ENGINE) ?? []).filter(({ driver }) => driver.video)

  return {
    /** What makes videos: an upstream, the server itself, or null. */
    videoMaker: (): 'upstream' | 'builtin' | null => (own().length ? 'upstream' : hasBuiltin ? 'builtin' : null),

    /**
     * Requests a video from the first target that accepts it. Throws 503 `engine_unavailable`, 400 if it is refused, and
     * {@link VideoOutcomeUnknown} if a target may have accepted it despite an error.
     */
    async requestVideo(request: Omit<VideoRequest, 'model'> & { origin: Origin }): Promise<UpstreamVideo> {
      const candidates = own().map((target) => ({ engineId: ENGINE, target, fallback: false }))
      const { origin, ...wanted } = request
      const ordered = { mode: 'video', signal: request.signal, origin }
      const { value, target } = await callFirst(deps, ordered, candidates, ({ driver, model }) =>
        driver.video!.order({ ...wanted, model }).catch(doubting),
      )
      return { target: target.id, id: value }
    },

    /** Reads the state of a video. Throws {@link EngineFailure}, with kind `config` if its target was removed. */
    lookAtVideo: ({ target, id }: UpstreamVideo, signal: AbortSignal): Promise<VideoState> =>
      driverOf(target).look(id, signal),

    /** The bytes of a video or of a still image of it. Throws {@link EngineFailure} while it is read. */
    videoContent: ({ target, id }: UpstreamVideo, what: 'video' | 'thumbnail', signal: AbortSignal) =>
      driverOf(target).content(id, what, signal),

    /** Cancels or deletes a video at the upstream. Never throws. */
    async dropVideo({ target, id }: UpstreamVideo): Promise<void> {
      try {
        await driverOf(target).drop(id, AbortSignal.timeout(DROP_MS))
      } catch (error) {
        deps.log.info({ target, failure: (error as Error).message }, 'a video could not be deleted at its upstream')
      }
    },

    /** Logs for the operator why an upstream made no video. */
    videoFailed(
      { target, id }: UpstreamVideo,
      { code, words }: { code: string; words: string },
      { stealth, requestId }: Origin,
    ) {
      const upstreamWords = stealth ? {} : { upstream_said: words }
      deps.log.warn(
        { request_id: requestId, target, video: id, code, ...upstreamWords },
        'the upstream created no video',
      )
    },
  }

  function driverOf(id: string): VideoDriver {
    const driver = own().find((target) => target.id === id)?.driver.video
    if (!driver) throw new EngineFailure('config', `${id} is not connected any more`)
    return driver
  }
}

const DROP_MS = 10_000

/** Error codes of connections that were never established. */
const NEVER_MADE = /ECONNREFUSED|ConnectionRefused|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|FailedToOpenSocket|EAI_AGAIN/

/** Rethrows errors after which the next target may be tried, because the request was not accepted. Else throws doubt. */
function doubting(error: unknown): never {
  if (!(error instanceof EngineFailure)) throw error
  const code = String((error.cause as { code?: unknown } | undefined)?.code ?? '')
  const isDown = ['config', 'rejected', 'throttled', 'server'].includes(error.kind)
  if (isDown || (error.kind === 'refused' && NEVER_MADE.test(code))) throw error
  throw new VideoOutcomeUnknown(error.message, { cause: error })
}
