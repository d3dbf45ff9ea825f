/** Audio: text spoken as MP3, recordings written down, and tokens of live voice sessions. */
export { audioSettings } from './config'
export { createAudio } from './service'
