import type { Call, Caller, OwnerScope } from '../kernel/caller'
import { defineError } from '../kernel/errors'
import type { Tx } from '../kernel/store'
import type { TakeoverRow } from './takeovers-table'

/** `ai` → `requested` → `human` → `ai`; also from `ai` to `human` at once (contract 15). */
export type TakeoverStatus = 'ai' | 'requested' | 'human'

export type Holder = { id: string; name: string }
/** What is taken over. Its owner is checked by the room that it belongs to. */
export type Subject = { id: string; owner: OwnerScope }

/** Who has a subject. Times in epoch milliseconds. */
export type Takeover = {
  status: TakeoverStatus
  /**
   * Grows each time that another one has it: what began under an earlier number must not take effect. A request for a
   * person does not change who has it.
   */
  fence: number
  holder: Holder | null
  /** Since when it has this status; null for one that was never asked for. */
  since: number | null
  /** When it goes back to the AI unless its holder does something; null unless a person has it. */
  until: number | null
  /** Why the visitor asked for a person. */
  reason: string | null
}

export type Change = {
  subject: Subject
  before: Takeover
  now: Takeover
  cause: 'requested' | 'taken' | 'stolen' | 'handed' | 'released' | 'silent'
  /** Null for silence and for callers without an account. */
  call: Call<Caller> | null
}

/** A kind of thing that can be taken over, declared by its room. */
export type TakeoverKind = {
  /** Never changes, because rows hold it. */
  name: string
  /** How its errors call it: `conversation`. */
  title: string
  /** How long a person may do nothing, in milliseconds. */
  silenceMs: number
  /** What belongs to a change, in its transaction: record, event, and with `tx.afterCommit` whom to tell. */
  changed(tx: Tx, change: Change): Promise<unknown>
}

export const UNTOUCHED: Takeover = { status: 'ai', fence: 0, holder: null, since: null, until: null, reason: null }

export const toTakeover = (row: TakeoverRow): Takeover => ({
  status: row.status,
  fence: row.fence,
  holder: row.holder_id === null ? null : { id: row.holder_id, name: row.holder_name ?? '' },
  since: row.since,
  until: row.until,
  reason: row.reason,
})

export const heldByAnother = defineError(
  'conflict',
  'conflict',
  (title: string, name: string) =>
    `${name} has taken over this ${title}. Wait until it is released, or send {"force":true} to take it from them.`,
)
export const notHeld = defineError(
  'conflict',
  'conflict',
  (title: string) => `Nobody has taken over this ${title}. Take it over first.`,
)
export const notYours = defineError(
  'conflict',
  'conflict',
  (title: string, name: string) => `${name} has taken over this ${title}, so only they act in it now.`,
)
