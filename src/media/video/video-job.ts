import type { behalfOf } from '../../auth'
import type { Files } from '../../files'
import { ArtifactId } from '../../files/schema'
import { GiveUp, type Running } from '../../jobs'
import type { Call, TenantCaller } from '../../kernel/caller'
import type { MakingService } from '../../making'
import type { Made, PublicKind } from '../../public-jobs'
import { drawnBy, LOCAL } from './drawn'
import type { Filmmaker } from './filmmaker'
import { KEY_IS_GONE, type StoredVideo, VIDEO_LIMIT_MS, wantedOf } from './order'

type Deps = {
  film: Filmmaker
  files: Pick<Files, 'receive' | 'add'>
  making: Pick<MakingService, 'resume'>
  /** The caller as whom stored work runs; null when it may not any more. */
  callerOf(behalf: ReturnType<typeof behalfOf>): Promise<TenantCaller | null>
}

/** A video that the server draws itself, as a job: fifteen minutes, two tries (contract 7). */
export function videoKind({ film, files, making, callerOf }: Deps): PublicKind<StoredVideo> {
  return {
    name: 'media.video',
    shown: 'video',
    retry: { attempts: 2, delayMs: () => 2_000 },
    timeLimitMs: VIDEO_LIMIT_MS,
    concurrency: 2,
    concurrencyPerKey: 2,
    run,
  }

  async function run(job: Running<StoredVideo>): Promise<Made> {
    const { seconds, requestId, route } = job.payload
    const caller = await callerOf(job.payload)
    if (!caller) throw new GiveUp(KEY_IS_GONE)
    const call: Call = { caller, requestId, route, signal: job.signal }
    const { delivered } = await making.resume(call, wantedOf(job.payload, true))
    const { clip, still } = await drawnBy(film, job.payload, {
      signal: job.signal,
      owner: job.owner!,
      told: (percent) => job.progress(percent, 'drawing'),
      receive: files.receive,
    })
    const posterId = ArtifactId.create()
    return {
      file: clip,
      data: { poster_artifact_id: posterId, engine: LOCAL },
      cost: 0,
      effects: async (tx) => {
        await files.add(tx, job.owner!, still.draft, still.about, posterId)
        await delivered(tx, { used: { seconds } }, 0)
      },
    }
  }
}
