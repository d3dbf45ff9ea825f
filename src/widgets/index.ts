/** Widgets: chats on other people's pages, answered by the AI and, if needed, by a person (docs/api.md 15). */

export { chatSums, openChats, wordsOfWidgets } from './analytics'
export { listChats, listTakeovers, readChat } from './operators'
export { holderIdOf, publicName } from './repository'
export { createWidgets } from './service'
export { CHAT_KIND } from './transcript'
export { frameAncestors, frameOf } from './visitor-auth'
export { presentPublic } from './visitors'
