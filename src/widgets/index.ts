/** Widgets: chats on other people's pages, answered by the AI and, when it matters, by a person (contract 15). */
export { holderIdOf, publicName } from './names'
export { frameAncestors } from './origins'
export { chatSums, openChats, wordsOfWidgets } from './oversight'
export { createWidgets } from './service'
