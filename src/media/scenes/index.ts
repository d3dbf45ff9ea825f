export { compose, type SceneInput } from './compose'
export { captionOf, readPrompt } from './read'
export { toSvg } from './svg'
