/** Events: what rooms tell each other, inside the unit of work that caused it and after it is durable. */
export { createEventBus, type EventBus } from './bus'
export { type DomainEvent, defineEvent, defineInternalEvent, EventId, type EventKind } from './schema'
