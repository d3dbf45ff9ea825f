/** Voice: tokens of live voice sessions, and the tools that run under them. */
export { voiceSettings } from './config'
export { createVoice } from './service'
