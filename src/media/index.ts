/** Media: pictures that engines make, and illustrations that the server draws itself. */
export { createIllustrator } from './drawing/illustrator'
export { changesPicture, pictureDescribed } from './follow-up'
export {
  createImages,
  createPictures,
  type ImageService,
  type MadePictures,
  type Picture,
  type Pictures,
} from './images'
export { captionOf } from './scenes'
export { createVideo, type VideoService } from './video/service'
