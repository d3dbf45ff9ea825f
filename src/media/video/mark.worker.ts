import { answerTasks } from '../../kernel/worker-pool'
import { rendered } from './frames'
import { provenanceMark } from './storyboard'

/** Pixels of the clip that is to be marked. */
export type MarkInput = { width: number; height: number }

answerTasks(({ width, height }: MarkInput) =>
  rendered({ width, height, background: '#00000000', shapes: [provenanceMark(width, height)], title: '' }).asPng(),
)
