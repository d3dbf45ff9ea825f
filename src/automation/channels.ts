import { desc, eq, lt } from 'drizzle-orm'
import { orgDeleted } from '../accounts'
import { type CompletionFacts, completionCreated } from '../charging'
import type { DomainEvent, EventBus } from '../events'
import { type Jobs, recurring } from '../jobs'
import { type Call, type Caller, type OwnerScope, ownerOf } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { rowsOf } from '../kernel/rows'
import type { Reader, Store, Tx } from '../kernel/store'
import { beginningOf, clean } from '../kernel/text'
import { connectorChanged, connectorCreated } from './events'
import { CHANNEL_TYPES, ChannelId, type ChannelStatus, type Channels, type ChannelType } from './schema'
import { type ChannelRow, channels } from './table'

const rows = rowsOf(channels)

type Deps = {
  store: Store
  clock: Clock
  events: EventBus
  jobs: Pick<Jobs, 'register'>
  orgs: { findOwner(reader: Reader, word: string | undefined): Promise<{ scope: OwnerScope }> }
}

export type ChannelService = ReturnType<typeof createChannels>

const MAX = 100
const MAX_NAME = 64
/** Precision of the last message time, so that a burst of messages updates the row only once. */
const EXACT_MS = 1_000
/** A channel without messages for this long is idle. */
const SILENT_MS = 7 * 86_400_000
const LOOK_EVERY_MS = 600_000
const BATCH = 100

/** Channels that people write from, as given in `metadata.channel` of completions (docs/api.md 21). */
export function createChannels({ store, clock, events, jobs, orgs }: Deps) {
  const hear = async (tx: Tx, { scope, data: { metadata }, depth }: DomainEvent<CompletionFacts>) => {
    const type = metadata?.channel
    if (isType(type)) await wrote(tx, scope, type, { name: nameIn(metadata!, type), depth })
  }
  events.inTransaction(completionCreated, hear, (_tx, _scope, _type, { metadata }) => metadata == null)
  events.inTransaction(orgDeleted, async (tx, { scope }) => void (await rows.remove(tx, { owner: scope })))
  jobs.register(recurring('channels.silence', LOOK_EVERY_MS, findSilent))
  return { list }

  /** The hundred most recently used channels. */
  async function list({ caller }: Call<Caller>, ownerFilter?: string): Promise<Channels> {
    const owner = await scopeOf(caller, ownerFilter)
    const t = store.read.of(channels)
    const all = store.read.select().from(t)
    const found = await all
      .where(owner === null ? undefined : eq(t.owner, owner))
      .orderBy(desc(t.last_message_at), desc(t.id))
      .limit(MAX)
    const shown = found.map(({ id, type, name, status, last_message_at }) => ({
      id,
      type,
      name,
      status,
      last_message_at: iso(last_message_at),
    }))
    return { channels: shown }
  }

  async function scopeOf(caller: Caller, ownerFilter: string | undefined): Promise<OwnerScope | null> {
    if (caller.type !== 'operator') return ownerOf(caller)
    return ownerFilter === undefined ? null : (await orgs.findOwner(store.read, ownerFilter)).scope
  }

  type Message = { name: string; depth: number }

  /** Records a message from a channel. Names beyond the limit count as the channel of their type. */
  async function wrote(tx: Tx, owner: OwnerScope, type: ChannelType, { name, depth }: Message): Promise<void> {
    const now = clock.now()
    const known = await rows.first(tx, { owner, type, name })
    if (known) {
      if (known.status === 'idle') await turn(tx, known, 'active', depth)
      else if (now - known.last_message_at >= EXACT_MS) await move(tx, known, { last_message_at: now })
      return
    }
    if (name !== type && (await rows.count(tx, { owner })) >= MAX) return wrote(tx, owner, type, { name: type, depth })
    const status = 'active' as const
    const row: ChannelRow = { id: ChannelId.create(), owner, type, name, status, last_message_at: now, created_at: now }
    // Another transaction may have created it.
    if (!(await rows.add(tx, row))) return
    const data = { connector_id: row.id, type, status, previous_status: null }
    await events.emit(tx, connectorCreated, owner, data, { depth })
  }

  async function turn(tx: Tx, row: ChannelRow, status: ChannelStatus, depth = 0): Promise<void> {
    const { id, owner, type, status: previous_status } = row
    const last_message_at = status === 'active' ? clock.now() : row.last_message_at
    if (!(await move(tx, row, { status, last_message_at }))) return
    await events.emit(tx, connectorChanged, owner, { connector_id: id, type, status, previous_status }, { depth })
  }

  async function findSilent(): Promise<void> {
    for (;;) {
      const also = (t: typeof channels.sqlite) => lt(t.last_message_at, clock.now() - SILENT_MS)
      const some = await rows.all(store.read, { status: 'active' }, { also, limit: BATCH })
      for (const row of some) await store.write((tx) => turn(tx, row, 'idle'))
      if (some.length < BATCH) return
    }
  }
}

/** Changes a channel that still has this status. False when its status is different. */
const move = async (tx: Tx, { id, owner, status }: ChannelRow, change: Partial<ChannelRow>): Promise<boolean> =>
  (await rows.update(tx, { id, owner, status }, change)) === 1

const isType = (word: unknown): word is ChannelType => CHANNEL_TYPES.includes(word as ChannelType)

/** `metadata.channel_name`, else the type. */
function nameIn({ channel_name: name }: Record<string, unknown>, type: ChannelType): string {
  const shown = typeof name === 'string' ? beginningOf(clean(name).trim(), MAX_NAME) : ''
  return shown || type
}
