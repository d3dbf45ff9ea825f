export { compose, type SceneOrder } from './compose'
export { captionOf, readPrompt } from './read'
export { toSvg } from './svg'
