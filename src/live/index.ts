/** Live: what happens is told at once to whoever listens, in every process; ids only, and nothing is kept. */
export { eitherWire } from './either-wire'
export { createLive, type Heard, type Live } from './service'
