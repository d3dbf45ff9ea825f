/** Voice: tokens of live voice sessions, and the tools that run under them. */
export { createVoice } from './service'
