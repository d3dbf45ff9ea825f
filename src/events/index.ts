/** Events: what happens is told to other rooms in its transaction, and to whoever is subscribed (contract 11). */
export { createEventBus, type EventBus } from './bus'
export { isReserved } from './catalogue'
export { createFanOut, type FanOut } from './fan-out'
export { assertPayload } from './payload'
export { eventRepository } from './repository'
export {
  type DomainEvent,
  defineEvent,
  defineInternalEvent,
  EventId,
  type EventKind,
} from './schema'
export { createEvents } from './service'
export { subscribe, webhooksFor } from './subscriptions'
export type { BusEventRow } from './table'
