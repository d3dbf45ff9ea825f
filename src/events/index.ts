/** Events: how rooms notify each other, inside the transaction of a change and after it has committed. */
export { createEventBus, type EventBus } from './bus'
export { type DomainEvent, defineEvent, defineInternalEvent, EventId, type EventKind } from './schema'
