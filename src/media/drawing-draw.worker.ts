import { Resvg } from '@resvg/resvg-js'
import { answerTasks } from '../kernel/worker-pool'
import { labelled } from './drawing-label'
import { compose, type SceneInput } from './scenes/compose'
import { toSvg } from './scenes/svg'

answerTasks((input: SceneInput) =>
  labelled.png(new Resvg(toSvg(compose(input)), { font: { loadSystemFonts: false } }).render().asPng()),
)
