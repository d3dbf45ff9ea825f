/** Events: what happens is told to other rooms in its transaction, and to whoever is subscribed (contract 11). */
export { createEventBus, type EventBus } from './bus'
export { eventRepository } from './repository'
export { type DomainEvent, defineEvent, defineInternalEvent, EventId, type EventKind } from './schema'
export { assertPayload, createEvents, createFanOut, type FanOut, isReserved } from './service'
export { subscribe, webhooksFor } from './subscriptions'
export type { BusEventRow } from './table'
