/** Takeovers: who has something now, the AI or a person, since when and until when; one primitive for chats, pages and steps. */

export { createTakeovers, type Takeovers } from './service'
export type { Change, Holder, Takeover } from './takeover'
export { standingOf, waitingOf } from './waiting'
