/** Chat: the wire format every client speaks, over the completion pipeline. */
export { type ChatService, createChat } from './service'
