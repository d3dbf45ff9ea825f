import type { OwnerScope } from '../kernel/caller'
import { form } from '../kernel/form'
import { defineId, type Id } from '../kernel/ids'
import { PageQuery } from '../kernel/page'
import { RangeQuery } from '../kernel/range'
import { namedObject, nullable, pageOf, type Static, Timestamp, t } from '../kernel/schema'

export const EventId = defineId('event', 'evt')
export type EventId = Id<'event'>

/** A kind of event: its dotted name (docs/api.md 14.2), and the type of its `data`. */
export type EventKind<Data extends object = object> = {
  readonly type: string
  /** For other modules only. `*` does not match it, so it is never delivered outside the server. */
  readonly internal: boolean
  readonly '~data'?: Data
}

/** An event with its owner and time (epoch ms). */
export type DomainEvent<Data extends object = object> = {
  readonly id: EventId
  readonly type: string
  readonly scope: OwnerScope
  readonly created: number
  readonly data: Data
  /** Length of the causal chain of events. 0 for events caused directly by a caller. */
  readonly depth: number
}

/** Declares an event in the module that emits it: `defineEvent<KeyFacts>('key.created')`. */
export const defineEvent = <Data extends object>(type: string): EventKind<Data> => ({ type, internal: false })

/** Declares an event that only other modules may receive. */
export const defineInternalEvent = <Data extends object>(type: string): EventKind<Data> => ({ type, internal: true })

/** Maximum length of an event name or pattern (docs/api.md 11.2). */
const MAX_CHARS = 128
const TYPE = form(
  '^[a-z0-9_]+(\\.[a-z0-9_]+)*$',
  'words of lower-case letters, digits and _, joined by dots, such as order.created',
)
const PATTERN = /^(?:\*|[a-z0-9_]+)(?:\.(?:\*|[a-z0-9_]+))*$/

/** Whether `text` is an event pattern: dotted words, with `*` for any word (docs/api.md 11.1). */
export const isEventPattern = (text: string): boolean => text.length <= MAX_CHARS && PATTERN.test(text)

/** The body of `POST /events`. */
export const NewEvent = namedObject('NewEvent', {
  orgId: t.String({ format: 'uuid', description: 'The organization; without one, your own user id' }),
  eventType: t.String({
    pattern: TYPE,
    maxLength: MAX_CHARS,
    description: 'Words joined by dots, such as `order.created`',
  }),
  payload: t.Optional(t.Unknown({ description: 'Any JSON of at most 64 KB' })),
  sourceConnector: t.Optional(nullable(t.String({ minLength: 1, maxLength: 128 }))),
})
export type NewEvent = Static<typeof NewEvent>

const members = {
  id: EventId.schema,
  orgId: t.String(),
  eventType: t.String(),
  payload: t.Unknown(),
  sourceConnector: nullable(t.String()),
  timestamp: Timestamp,
}

/** An event as its owner sees it. */
export const BusEvent = t.Object(members, { $id: 'Event' })
export type BusEvent = Static<typeof BusEvent>

export const PublishedEvent = t.Object({
  ...members,
  accepted: t.Literal(true),
  matchedHooks: t.Integer(),
  matchedWebhooks: t.Integer(),
  matchedWorkflows: t.Integer(),
})
export type PublishedEvent = Static<typeof PublishedEvent>

export const BusEventPage = pageOf('events', BusEvent)
export const BusEventQuery = t.Object({
  orgId: t.Optional(t.String({ format: 'uuid' })),
  eventType: t.Optional(t.String({ maxLength: MAX_CHARS, description: 'A name, or a family such as `order.*`' })),
  ...RangeQuery.properties,
  ...PageQuery.properties,
})
export type BusEventQuery = Static<typeof BusEventQuery>

export { matchesPattern } from './repository'
export { SAMPLES } from './samples'
