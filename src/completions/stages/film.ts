import type { Thought } from '../../agent/schema'
import type { VideoService } from '../../media'
import { isStealth, workOf } from '../rules'
import type { Run } from '../run'
import { handOver, shown } from './hand-over'

/** Whether a run is to make a video. */
export const isFilm = ({ resolvedMode }: Run): boolean => workOf(resolvedMode) === 'video'

/** Answers with the job that makes the video (contract 2.4). */
export function createFilm({ video }: { video: Pick<VideoService, 'later'> }) {
  return async function film(run: Run): Promise<Thought> {
    const { prompt, mode, filmSeconds: seconds } = run.request
    const job = await video.later(run.call, { prompt, seconds, mode: isStealth(mode) ? 'stealth_video' : 'video' })
    const thought = handOver(run, job, 'A video takes longer than an answer')
    return shown(run, { ...thought, free: true })
  }
}
