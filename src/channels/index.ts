/** Channels: where people write from, and whether they still do (contract 21). */
export { createChannels } from './service'
