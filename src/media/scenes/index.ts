export { compose, type SceneOrder } from './compose'
export { captionOf } from './lettering'
export { readPrompt } from './read'
export { toSvg } from './svg'
