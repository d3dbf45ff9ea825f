/** Images, videos, documents, code and speech that the server makes or reads. */
export { type Audio, createAudio, localSpeaker, soundOf, type Transcribed } from './audio/service'
export { type CodeService, checksOf, codeBlocks, codeFiles, createCode, kindOf, problemsIn } from './code'
export { createDocuments, type Documents } from './documents/service'
export {
  changesPicture,
  createIllustrator,
  createImages,
  createPictures,
  type Edit,
  type ImageService,
  type MadePictures,
  type Picture,
  type Pictures,
  pictureDescribed,
} from './images'
export { captionOf } from './scenes/read'
export { artifactOf } from './schema'
export { createVideo, type VideoService } from './video/service'
