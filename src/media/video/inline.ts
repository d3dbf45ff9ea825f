import { EngineFailure, type EngineService, originOf } from '../../engines'
import type { Draft } from '../../files'
import type { About } from '../../files/schema'
import { GiveUp } from '../../jobs'
import { type Call, ownerOf } from '../../kernel/caller'
import { AppError } from '../../kernel/errors'
import { WorkerFailure } from '../../kernel/worker-pool'
import type { Work } from '../../making'
import { videoNotMade } from '../errors'
import { drawnBy } from './drawn'
import type { Filmmaker } from './filmmaker'
import { ENGINE, type Wish } from './order'
import type { Upstream } from './upstream'

type Deps = { film: Filmmaker; upstream: Upstream; engines: Pick<EngineService, 'dropVideo'> }
type Around = Pick<Work, 'keep' | 'signal'> & { free: boolean }

/** A video that was made within a request. */
export type InlineVideo = {
  /** The clip, and its still where there is one. */
  files: { draft: Draft; about: About }[]
  engineId: string
  free: boolean
  seconds: number
  warnings: string[]
}

const NOT_DRAWN = 'This video could not be drawn. Nothing was charged; try again shortly.'
const NOT_FETCHED = 'The engine did not return its video. Nothing was charged; try again shortly.'

/**
 * Makes a video within a request, which charges for it (contract 2.4). It ends with `signal`, and then the upstream is
 * told that nobody wants it any more. Throws 503 `engine_unavailable`, 400 for what the engine refuses.
 */
export function createInlineVideo({ film, upstream, engines }: Deps) {
  return async function make(call: Call, wish: Wish, { free, keep, signal }: Around): Promise<InlineVideo> {
    try {
      const { seconds, warnings, ...made } = free ? await drawn() : await bought()
      const files = [made.clip, ...(made.still ? [made.still] : [])]
      return { files, engineId: ENGINE, free, seconds, warnings }
    } catch (error) {
      signal.throwIfAborted()
      throw explained(error)
    }

    async function drawn() {
      const owner = ownerOf(call.caller)
      const made = await drawnBy(film, wish, { signal, owner, told: () => {}, receive: keep })
      return { ...made, seconds: wish.seconds, warnings: [] }
    }

    async function bought() {
      const stealth = wish.mode === 'stealth_video'
      const making = upstream(wish, {
        key: wish.id,
        owner: ownerOf(call.caller),
        origin: { ...originOf(call), stealth },
        signal,
        known: null,
        keep: async () => {},
        isOver: async () => true,
        told: () => {},
        receive: keep,
      })
      // An order that is on its way is let finish, and given up then; its caller does not wait for that.
      const made = await Promise.race([making, aborted(signal)])
      if (stealth) void engines.dropVideo(made.ordered)
      return made
    }
  }
}

const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    const leave = () => reject(signal.reason)
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
  })

function explained(error: unknown): unknown {
  if (error instanceof GiveUp) return error.cause instanceof AppError ? error.cause : videoNotMade(error.message)
  if (error instanceof WorkerFailure) return videoNotMade(NOT_DRAWN)
  return error instanceof EngineFailure ? videoNotMade.with({ cause: error }, NOT_FETCHED) : error
}
