/** Widgets: chats on other people's pages, answered by the AI and, when it matters, by a person (contract 15). */
export { holderIdOf, publicName } from './names'
export { chatSums, openChats, wordsOfWidgets } from './operator-reads'
export { frameAncestors } from './origins'
export { createWidgets } from './service'
