/** Chat: the chat-completions wire format over the completion pipeline. */
export { formOfSchema } from './format'
export { createChat } from './service'
