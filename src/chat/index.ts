/** Chat: the chat-completions wire format over the completion pipeline. */
export { type ChatService, createChat } from './service'
