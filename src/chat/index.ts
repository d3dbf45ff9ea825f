/** Chat: the chat-completions wire format over the completion pipeline. */
export { createChat } from './service'
