/** Audio: text spoken as MP3, recordings written down, and tokens of live voice sessions. */
export { createAudio, localSpeaker } from './routes'
