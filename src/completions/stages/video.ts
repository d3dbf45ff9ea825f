import type { Files } from '../../files'
import { captionOf, type VideoService } from '../../media'
import type { AgentResult } from '../agent-schema'
import { isStealth, workOf } from '../rules'
import type { Run } from '../run'
import { EMPTY, handOver, shown } from './hand-over'

type Deps = { video: Pick<VideoService, 'later' | 'now'>; files: Pick<Files, 'receive'> }

/** Whether a run is to make a video. */
export const isVideo = ({ resolvedMode }: Run): boolean => workOf(resolvedMode) === 'video'

/** Only what `auto` chose becomes a job: a request that asks for a video itself waits for it (contract 2.4). */
export const isHandedOver = ({ request }: Run): boolean => request.mode === 'auto'

/** Answers with a video, or with the job that makes it (contract 2.4). Throws what engines throw. */
export function createVideo({ video, files }: Deps) {
  return async function film(run: Run): Promise<AgentResult> {
    const { prompt, mode, videoSeconds: seconds } = run.request
    const request = { prompt, seconds, mode: isStealth(mode) ? 'stealth_video' : 'video' } as const
    if (!isHandedOver(run)) return shown(run, await made(run, request))
    const result = handOver(run, await video.later(run.call, request), 'A video takes longer than an answer')
    return shown(run, { ...result, free: true })
  }

  async function made(run: Run, request: Parameters<VideoService['now']>[1]): Promise<AgentResult> {
    const { engineId, free, seconds, warnings, ...filmed } = await video.now(run.call, request, {
      signal: run.deadline.signal,
      async keep(source, mimeType) {
        const draft = await files.receive(source, mimeType)
        run.drafts.push(draft)
        return draft
      },
    })
    run.pictures = filmed.files
    run.warnings = [...run.warnings, ...warnings]
    const caption = captionOf(request.prompt)
    const content = free
      ? `A local animation of “${caption}”, drawn by rules without a video model. It lasts ${seconds} s.`
      : `Here is “${caption}”. It lasts ${seconds} s.`
    const turn = {
      engineId,
      free,
      promptTokens: 0,
      completionTokens: 0,
      seconds: Math.min(seconds, request.seconds ?? seconds),
    }
    return { ...EMPTY, engineId: run.engineId, free, content, turns: [turn] }
  }
}
