import type { OwnerScope } from '../kernel/caller'
import { defineId, type Id } from '../kernel/ids'

export const EventId = defineId('event', 'evt')
export type EventId = Id<'event'>

/** A kind of event: its dotted name (contract 14.2), and the type of its `data`. */
export type EventKind<Data extends object = object> = {
  readonly type: string
  /** For other rooms only: `*` does not match it, so it is never delivered outside the server. */
  readonly internal: boolean
  readonly '~data'?: Data
}

/** Something that happened, its owner, and when (epoch ms). */
export type DomainEvent<Data extends object = object> = {
  readonly id: EventId
  readonly type: string
  readonly scope: OwnerScope
  readonly created: number
  readonly data: Data
}

/** Declares an event in the room that emits it: `defineEvent<KeyFacts>('key.created')`. */
export const defineEvent = <Data extends object>(type: string): EventKind<Data> => ({ type, internal: false })

/** The same for events that only other rooms may receive. */
export const defineInternalEvent = <Data extends object>(type: string): EventKind<Data> => ({ type, internal: true })

const PATTERN = /^(?:\*|[a-z0-9_]+)(?:\.(?:\*|[a-z0-9_]+))*$/

/** Whether `text` is an event pattern: dotted words, with `*` for any word (contract 11.1). */
export const isEventPattern = (text: string): boolean => text.length <= 128 && PATTERN.test(text)
