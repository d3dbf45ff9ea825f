import type { behalfOf } from '../../auth'
import type { Files } from '../../files'
import { type About, ArtifactId } from '../../files/schema'
import { GiveUp, type Running } from '../../jobs'
import type { Call, TenantCaller } from '../../kernel/caller'
import type { MakingService } from '../../making'
import type { Made, PublicKind } from '../../public-jobs'
import type { Filmmaker } from './filmmaker'
import { ENGINE, isSecret, KEY_IS_GONE, type StoredVideo, VIDEO_LIMIT_MS, wantedOf } from './order'
import { FRAMES } from './schema'

type Deps = {
  film: Filmmaker
  files: Pick<Files, 'receive' | 'add'>
  making: Pick<MakingService, 'resume'>
  /** The caller as whom stored work runs; null when it may not any more. */
  callerOf(behalf: ReturnType<typeof behalfOf>): Promise<TenantCaller | null>
}

/** What pictures that are drawn here say of themselves too. */
const LOCAL = 'svc-local-vector'

/** A video that the server draws itself, as a job: fifteen minutes, two tries (contract 7). */
export function videoKind({ film, files, making, callerOf }: Deps): PublicKind<StoredVideo> {
  return {
    name: 'media.video',
    shown: 'video',
    retry: { attempts: 2, delayMs: () => 2_000 },
    timeLimitMs: VIDEO_LIMIT_MS,
    concurrency: 2,
    concurrencyPerKey: 2,
    isSecret,
    run,
  }

  async function run(job: Running<StoredVideo>): Promise<Made> {
    const { id, mode, prompt, style, seconds, aspectRatio, requestId, route } = job.payload
    const caller = await callerOf(job.payload)
    if (!caller) throw new GiveUp(KEY_IS_GONE)
    const call: Call = { caller, requestId, route, signal: job.signal }
    const { delivered } = await making.resume(call, wantedOf(job.payload, true))
    const [width, height] = FRAMES[aspectRatio]
    const { mp4, poster } = await film(
      { prompt, style, width, height, seconds },
      { signal: job.signal, owner: job.owner!, told: (percent) => job.progress(percent, 'drawing') },
    )
    const shared = { engine: LOCAL, model: ENGINE, width, height, prompt: mode === 'video' ? prompt : null }
    const about: About = { type: 'video', filename: `${id}.mp4`, durationSeconds: seconds, ...shared }
    const [draft, still] = [await files.receive(mp4, 'video/mp4'), await files.receive(poster, 'image/png')]
    const posterId = ArtifactId.create()
    return {
      file: { draft, about },
      data: { poster_artifact_id: posterId, engine: LOCAL },
      cost: 0,
      effects: async (tx) => {
        await files.add(tx, job.owner!, still, { type: 'image', filename: `${id}.png`, ...shared }, posterId)
        await delivered(tx, { used: { seconds } }, 0)
      },
    }
  }
}
