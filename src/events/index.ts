/** Events: delivered to other modules in the causing transaction, and to the owner's subscribers (docs/api.md 11). */

export { eventRepository, subscribe, webhooksFor } from './repository'
export { type DomainEvent, defineEvent, defineInternalEvent, EventId, type EventKind } from './schema'
export {
  assertPayload,
  createEventBus,
  createEvents,
  createFanOut,
  type EventBus,
  type FanOut,
  isReserved,
} from './service'
export type { BusEventRow } from './table'
