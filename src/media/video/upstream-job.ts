import type { behalfOf } from '../../auth'
import { originOf } from '../../engines'
import type { Files } from '../../files'
import { ArtifactId } from '../../files/schema'
import { GiveUp, type Running } from '../../jobs'
import type { Call, TenantCaller } from '../../kernel/caller'
import type { MakingService } from '../../making'
import type { Made, PublicKind } from '../../public-jobs'
import { KEY_IS_GONE, type StoredVideo, VIDEO_LIMIT_MS, wantedOf } from './order'
import type { Known, Upstream } from './upstream'

type Deps = {
  upstream: Upstream
  files: Pick<Files, 'receive' | 'add'>
  making: Pick<MakingService, 'resume'>
  /** The caller as whom stored work runs; null when it may not any more. */
  callerOf(behalf: ReturnType<typeof behalfOf>): Promise<TenantCaller | null>
}

const KNOWN = 'upstream'

/** A video that an upstream makes, as a job (contract 6, 7): later tries go on with what earlier ones ordered. */
export function upstreamVideoKind({ upstream, files, making, callerOf }: Deps): PublicKind<StoredVideo> {
  return {
    name: 'media.video-upstream',
    shown: 'video',
    // Most of them are crashes of ours: an engine that says no is asked twice.
    retry: { attempts: 6, delayMs: () => 2_000 },
    timeLimitMs: VIDEO_LIMIT_MS,
    concurrency: 32,
    concurrencyPerKey: 8,
    remembers: true,
    run,
  }

  async function run(job: Running<StoredVideo>): Promise<Made> {
    const { requestId, route } = job.payload
    const caller = await callerOf(job.payload)
    if (!caller) throw new GiveUp(KEY_IS_GONE)
    const call: Call = { caller, requestId, route, signal: job.signal }
    const { delivered } = await making.resume(call, wantedOf(job.payload, false))
    const { clip, still, seconds, cost, warnings } = await upstream(job.payload, {
      key: job.id,
      owner: job.owner!,
      origin: originOf(call),
      signal: job.signal,
      known: (await job.recall(KNOWN)) as Known | null,
      keep: (known) => job.keep(KNOWN, known),
      // What a job remembers goes with its end.
      isOver: async () => job.signal.aborted && !(await job.recall(KNOWN)),
      told: (percent) => job.progress(percent, 'making'),
      receive: files.receive,
    })
    const stillId = still && ArtifactId.create()
    return {
      file: { draft: clip.draft, about: { ...clip.about, costMicro: cost } },
      data: { poster_artifact_id: stillId, engine: 'svc-vision', ...(warnings.length ? { warnings } : {}) },
      cost,
      effects: async (tx) => {
        if (still && stillId) await files.add(tx, job.owner!, still.draft, still.about, stillId)
        await delivered(tx, { used: { seconds } }, cost)
      },
    }
  }
}
