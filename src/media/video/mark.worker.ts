import { answerTasks } from '../../kernel/worker-pool'
import { rendered } from './frames'
import { provenanceMark } from './storyboard'

/** Size in pixels of the clip to mark. */
export type MarkInput = { width: number; height: number }

answerTasks(({ width, height }: MarkInput) =>
  rendered({ width, height, background: '#00000000', shapes: [provenanceMark(width, height)], title: '' }).asPng(),
)
