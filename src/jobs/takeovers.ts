import type { Call, Caller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { Reader, Store, Tx } from '../kernel/store'
import { LONGEST_REST_MS, RECURRING, recurring } from './kind'
import type { Jobs } from './service'
import {
  type Change,
  type Holder,
  heldByAnother,
  notHeld,
  notYours,
  type Subject,
  type Takeover,
  type TakeoverKind,
  toTakeover,
  UNTOUCHED,
} from './takeover'
import { takeoverRepository as rows } from './takeovers-repository'
import type { TakeoverRow } from './takeovers-table'

type Deps = { store: Store; clock: Clock; jobs: Pick<Jobs, 'register' | 'ensure'> }
/** Null where no account asks: a visitor, or the end of what is taken over. */
type By = { call: Call<Caller> | null }

export type Takeovers = ReturnType<typeof createTakeovers>

const SILENCE = 'takeovers.silence'
const LOOK_EVERY_MS = 30_000
const BATCH = 200

/**
 * Who has something, the AI or one person (I36). Every change locks the subject's row in the caller's unit of work, so
 * changes come one after the other, also those of two processes, and commit with what they cause.
 */
export function createTakeovers({ store, clock, jobs }: Deps) {
  const kinds = new Map<string, TakeoverKind>()
  jobs.register(recurring(SILENCE, LOOK_EVERY_MS, endSilent, { dueAt: rows.soonest }))
  return { of, endSilent }

  /** Declares a kind; once in each process, where its room is built. */
  function of(kind: TakeoverKind) {
    kinds.set(kind.name, kind)
    return {
      read: async (reader: Reader, id: string): Promise<Takeover> => (await readAll(reader, [id])).get(id) ?? UNTOUCHED,
      /** By subject; one that is missing was never asked for: it is with the AI. */
      readAll,
      /** As `read`, and it stays so until the unit has committed. */
      lock: async (tx: Tx, subject: Subject): Promise<Takeover> => toTakeover(await rows.lock(tx, kind.name, subject)),
      request: (tx: Tx, subject: Subject, requested: By & { reason?: string | null }) =>
        request(tx, kind, subject, requested),
      take: (tx: Tx, subject: Subject, taken: By & { holder: Holder; force?: boolean }) =>
        take(tx, kind, subject, taken),
      pass: (tx: Tx, subject: Subject, passed: By & { from: string; to: Holder }) => pass(tx, kind, subject, passed),
      touch: (tx: Tx, subject: Subject, holderId: string) => touch(tx, kind, subject, holderId),
      release: (tx: Tx, subject: Subject, by: By) => release(tx, kind, subject, by),
      /** For subjects that are no more. */
      forget: (tx: Tx, ids: readonly string[]) => rows.remove(tx, kind.name, ids),
    }

    async function readAll(reader: Reader, ids: readonly string[]): Promise<Map<string, Takeover>> {
      if (!ids.length) return new Map()
      const found = await rows.find(reader, kind.name, ids)
      return new Map(found.map((row) => [row.subject_id, toTakeover(row)]))
    }
  }

  /** Asks for a person. Changes nothing where one was asked for, or has it. */
  async function request(
    tx: Tx,
    kind: TakeoverKind,
    subject: Subject,
    { call, reason = null }: By & { reason?: string | null },
  ): Promise<Takeover> {
    const row = await rows.lock(tx, kind.name, subject)
    if (row.status !== 'ai') return toTakeover(row)
    return change(tx, kind, row, { status: 'requested', since: clock.now(), reason }, 'requested', call)
  }

  /** Gives it to one person. Throws 409 where another one has it, unless forced; for the holder it is a touch. */
  async function take(
    tx: Tx,
    kind: TakeoverKind,
    subject: Subject,
    { call, holder, force = false }: By & { holder: Holder; force?: boolean },
  ): Promise<Takeover> {
    const row = await rows.lock(tx, kind.name, subject)
    const now = clock.now()
    const until = now + kind.silenceMs
    const isHeld = row.status === 'human'
    if (isHeld && row.holder_id === holder.id && row.holder_name === holder.name) {
      return toTakeover(await rows.change(tx, row, { until }))
    }
    if (isHeld && !force) throw heldByAnother(kind.title, row.holder_name ?? '')
    // A longer silence is seen by the next look. The job is one row, for which all who take something would wait.
    if (kind.silenceMs < LONGEST_REST_MS)
      await jobs.ensure(tx, { name: SILENCE }, { owner: null, payload: null, uniqueKey: RECURRING, runAt: until })
    const held = { status: 'human' as const, holder_id: holder.id, holder_name: holder.name, since: now, until }
    return change(tx, kind, row, { ...held, fence: row.fence + 1 }, isHeld ? 'stolen' : 'taken', call)
  }

  /** Its holder gives it to another person; for oneself it is a touch. Throws 409 unless `from` has it. */
  async function pass(
    tx: Tx,
    kind: TakeoverKind,
    subject: Subject,
    { call, from, to }: By & { from: string; to: Holder },
  ): Promise<Takeover> {
    const row = await rows.lock(tx, kind.name, subject)
    assertHolds(kind, row, from)
    const now = clock.now()
    const until = now + kind.silenceMs
    if (to.id === from) return toTakeover(await rows.change(tx, row, { until }))
    const held = { holder_id: to.id, holder_name: to.name, since: now, until, fence: row.fence + 1 }
    return change(tx, kind, row, held, 'handed', call)
  }

  /** The holder does something, so the time of silence begins anew. Throws 409 unless this person has it. */
  async function touch(tx: Tx, kind: TakeoverKind, subject: Subject, holderId: string): Promise<Takeover> {
    for (;;) {
      const held = await rows.touch(tx, kind.name, subject.id, holderId, clock.now() + kind.silenceMs)
      if (held) return toTakeover(held)
      // Not locked: the caller may have what others lock after it. Theirs by now, it was taken since, and is tried again.
      const [row] = await rows.find(tx, kind.name, [subject.id])
      if (!row) throw notHeld(kind.title)
      assertHolds(kind, row, holderId)
    }
  }

  /** Back to the AI, from any state; a request for a person is withdrawn too. */
  async function release(tx: Tx, kind: TakeoverKind, subject: Subject, { call }: By): Promise<Takeover> {
    const row = await rows.lock(tx, kind.name, subject)
    return row.status === 'ai' ? toTakeover(row) : giveBack(tx, kind, row, 'released', call)
  }

  /** Gives back what nobody touched for too long. */
  async function endSilent(): Promise<number> {
    const due = await rows.silent(store.read, clock.now(), BATCH)
    for (const { kind, subject_id: id, owner } of due) {
      const declared = kinds.get(kind)
      if (declared) await store.write((tx) => endOne(tx, declared, { id, owner }))
    }
    return due.length
  }

  async function endOne(tx: Tx, kind: TakeoverKind, subject: Subject): Promise<void> {
    const row = await rows.lock(tx, kind.name, subject)
    if (row.until !== null && row.until <= clock.now()) await giveBack(tx, kind, row, 'silent', null)
  }

  function giveBack(
    tx: Tx,
    kind: TakeoverKind,
    row: TakeoverRow,
    cause: 'released' | 'silent',
    call: Call<Caller> | null,
  ): Promise<Takeover> {
    const nobody = { holder_id: null, holder_name: null, until: null, reason: null }
    const fencingToken = row.status === 'human' ? row.fence + 1 : row.fence
    return change(tx, kind, row, { status: 'ai', ...nobody, since: clock.now(), fence: fencingToken }, cause, call)
  }

  async function change(
    tx: Tx,
    kind: TakeoverKind,
    row: TakeoverRow,
    columns: Partial<TakeoverRow>,
    cause: Change['cause'],
    call: Call<Caller> | null,
  ): Promise<Takeover> {
    const now = toTakeover(await rows.change(tx, row, columns))
    const subject = { id: row.subject_id, owner: row.owner }
    await kind.changed(tx, { subject, before: toTakeover(row), now, cause, call })
    return now
  }
}

function assertHolds({ title }: TakeoverKind, { status, holder_id, holder_name }: TakeoverRow, holderId: string): void {
  if (status !== 'human') throw notHeld(title)
  if (holder_id !== holderId) throw notYours(title, holder_name ?? '')
}
