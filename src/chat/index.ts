/** Chat: the chat-completions wire format over the completion pipeline. */
export { formOfSchema } from './from-wire'
export { createChat } from './routes'
