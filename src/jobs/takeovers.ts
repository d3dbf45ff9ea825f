import { and, asc, eq, inArray, isNotNull, lte, sql } from 'drizzle-orm'
import type { Call, Caller, OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { defineErrors } from '../kernel/errors'
import { rowsOf } from '../kernel/rows'
import { command, type Reader, type Store, type Tx } from '../kernel/store'
import { MAX_IDLE_MS, RECURRING, recurring } from './kind'
import type { Jobs } from './service'
import { type TakeoverRow, takeovers } from './table'

const takeoverRows = rowsOf(takeovers)

/** `ai` → `requested` → `human` → `ai`, or directly from `ai` to `human` (docs/api.md 15). */
export type TakeoverStatus = 'ai' | 'requested' | 'human'

export type Holder = { id: string; name: string }
/** The object that can be taken over. The module it belongs to checks its owner. */
type Subject = { id: string; owner: OwnerScope }

/** The state of a subject. Times in epoch milliseconds. */
export type Takeover = {
  status: TakeoverStatus
  /**
   * Increases each time the holder changes. Work begun under an earlier number must not take effect. Requesting a
   * person does not change the holder.
   */
  fence: number
  holder: Holder | null
  /** Time of the last status change. Null if no person was ever requested. */
  since: number | null
  /** When the subject returns to the AI unless its holder acts. Null unless a person holds it. */
  until: number | null
  /** Why a person was requested. */
  reason: string | null
}

export type Change = {
  subject: Subject
  before: Takeover
  now: Takeover
  cause: 'requested' | 'taken' | 'stolen' | 'handed' | 'released' | 'silent'
  /** Null after a silence timeout and for callers without an account. */
  call: Call<Caller> | null
}

/** A kind of subject that can be taken over, declared by its module. */
type TakeoverKind = {
  /** Never changes, because rows contain it. */
  name: string
  /** The name in error messages: `conversation`. */
  title: string
  /** How long the holder may be inactive, in milliseconds. */
  silenceMs: number
  /** Runs in the transaction of a change: records it, emits events, and notifies others with `tx.afterCommit`. */
  changed(tx: Tx, change: Change): Promise<unknown>
}

const UNTOUCHED: Takeover = { status: 'ai', fence: 0, holder: null, since: null, until: null, reason: null }

const toTakeover = (row: TakeoverRow): Takeover => ({
  status: row.status,
  fence: row.fence,
  holder: row.holder_id === null ? null : { id: row.holder_id, name: row.holder_name ?? '' },
  since: row.since,
  until: row.until,
  reason: row.reason,
})

const takeoverErrors = defineErrors('conflict', {
  heldByAnother: (title: string, name: string) =>
    `${name} has taken over this ${title}. Wait until it is released, or send {"force":true} to take it from them.`,
  notHeld: (title: string) => `Nobody has taken over this ${title}. Take it over first.`,
  notYours: (title: string, name: string) => `${name} has taken over this ${title}, so only they act in it now.`,
})

const touchHeld = command<{ kind: string; id: string; holder: string; until: number }>()((tx, p) => {
  const t = tx.of(takeovers)
  return tx
    .update(t)
    .set({ until: sql`${p.until}` })
    .where(and(eq(t.kind, p.kind), eq(t.subject_id, p.id), eq(t.status, 'human'), eq(t.holder_id, p.holder)))
    .returning()
})

/** Rows of takeovers. The module of a subject has checked its owner. */
const rows = {
  find: (db: Reader, kind: string, ids: readonly string[]): Promise<TakeoverRow[]> =>
    takeoverRows.all(db, { kind, subject_id: ids }),

  /** Finds or creates the row, and locks it until the commit. */
  async lock(tx: Tx, kind: string, { id, owner }: Subject): Promise<TakeoverRow> {
    const t = tx.of(takeovers)
    const { status, fence: fencingToken, since, until, reason } = UNTOUCHED
    const empty = { status, fence: fencingToken, holder_id: null, holder_name: null, since, until, reason }
    const [row] = await tx
      .insert(t)
      .values({ kind, subject_id: id, owner, ...empty })
      .onConflictDoUpdate({ target: [t.kind, t.subject_id], set: { fence: sql`${t.fence}` } })
      .returning()
    return row!
  },

  /** Locks the row and extends the hold of this holder. Undefined when another person or nobody holds it. */
  async touch(tx: Tx, kind: string, id: string, holder: string, until: number): Promise<TakeoverRow | undefined> {
    return (await touchHeld(tx, { kind, id, holder, until }))[0]
  },

  async change(tx: Tx, { kind, subject_id }: TakeoverRow, columns: Partial<TakeoverRow>): Promise<TakeoverRow> {
    const t = tx.of(takeovers)
    const [row] = await tx
      .update(t)
      .set(columns)
      .where(and(eq(t.kind, kind), eq(t.subject_id, subject_id)))
      .returning()
    return row!
  },

  remove: (tx: Tx, kind: string, ids: readonly string[]) => takeoverRows.remove(tx, { kind, subject_id: ids }),

  /** For operators: the subjects of a kind that wait for a person, of all owners. */
  waiting: (db: Reader, kind: string, max: number): Promise<TakeoverRow[]> =>
    takeoverRows.all(db, { kind, status: 'requested' }, { limit: max }),

  /** When the first hold expires through inactivity, in epoch milliseconds. Null when there are no holds. */
  async soonest(db: Reader): Promise<number | null> {
    const t = db.of(takeovers)
    const [found] = await db.select({ at: sql<number | null>`min(${t.until})` }).from(t)
    return (found?.at ?? null) === null ? null : Number(found!.at)
  },

  /** Subjects whose holder has been inactive for too long. */
  silent(db: Reader, now: number, max: number): Promise<TakeoverRow[]> {
    const t = db.of(takeovers)
    return db
      .select()
      .from(t)
      .where(and(isNotNull(t.until), lte(t.until, now)))
      .orderBy(asc(t.until))
      .limit(max)
  },
}

type Deps = { store: Store; clock: Clock; jobs: Pick<Jobs, 'register' | 'ensure'> }
/** Null when no account caused the change: a visitor, or the end of the subject. */
type By = { call: Call<Caller> | null }

export type Takeovers = ReturnType<typeof createTakeovers>

const SILENCE = 'takeovers.silence'
const LOOK_EVERY_MS = 30_000
const BATCH = 200

/**
 * Whether the AI or a person holds a subject (docs/promises.md I36). Every change locks the subject's row in the
 * caller's transaction. Changes are therefore serialized, also across processes, and commit with their consequences.
 */
export function createTakeovers({ store, clock, jobs }: Deps) {
  const kinds = new Map<string, { endSilent(tx: Tx, subject: Subject): Promise<void> }>()
  jobs.register(recurring(SILENCE, LOOK_EVERY_MS, endSilent, { dueAt: rows.soonest }))
  return { of, endSilent }

  /** Returns inactive subjects to the AI. */
  async function endSilent(): Promise<number> {
    const due = await rows.silent(store.read, clock.now(), BATCH)
    for (const { kind, subject_id: id, owner } of due)
      await store.write(async (tx) => kinds.get(kind)?.endSilent(tx, { id, owner }))
    return due.length
  }

  /** Declares a kind. Call it once per process, when its module is created. */
  function of({ name, title, silenceMs, changed }: TakeoverKind) {
    kinds.set(name, {
      async endSilent(tx, subject) {
        const row = await rows.lock(tx, name, subject)
        if (row.until !== null && row.until <= clock.now()) await giveBack(tx, row, 'silent', null)
      },
    })
    return {
      read: async (reader: Reader, id: string): Promise<Takeover> => (await readAll(reader, [id])).get(id) ?? UNTOUCHED,
      readAll,
      lock,
      request,
      take,
      pass,
      touch,
      release,
      /** For subjects that no longer exist. */
      forget: (tx: Tx, ids: readonly string[]) => rows.remove(tx, name, ids),
    }

    /** States by subject. A missing subject was never requested and is with the AI. */
    async function readAll(reader: Reader, ids: readonly string[]): Promise<Map<string, Takeover>> {
      const found = ids.length ? await rows.find(reader, name, ids) : []
      return new Map(found.map((row) => [row.subject_id, toTakeover(row)]))
    }

    /** Like `read`, but locks the state until the commit. */
    async function lock(tx: Tx, subject: Subject): Promise<Takeover> {
      return toTakeover(await rows.lock(tx, name, subject))
    }

    /** Requests a person. Changes nothing if a person was already requested or holds the subject. */
    async function request(tx: Tx, subject: Subject, { call, reason = null }: By & { reason?: string | null }) {
      const row = await rows.lock(tx, name, subject)
      if (row.status !== 'ai') return toTakeover(row)
      return change(tx, row, { status: 'requested', since: clock.now(), reason }, 'requested', call)
    }

    /**
     * Gives the subject to one person. Throws 409 when another person holds it, unless forced. For the holder it counts
     * as activity.
     */
    async function take(tx: Tx, subject: Subject, taken: By & { holder: Holder; force?: boolean }): Promise<Takeover> {
      const { call, holder, force = false } = taken
      const row = await rows.lock(tx, name, subject)
      const now = clock.now()
      const until = now + silenceMs
      const isHeld = row.status === 'human'
      if (isHeld && row.holder_id === holder.id && row.holder_name === holder.name) {
        return toTakeover(await rows.change(tx, row, { until }))
      }
      if (isHeld && !force) throw takeoverErrors.heldByAnother(title, row.holder_name ?? '')
      // The recurring check detects longer timeouts. Its job is a single row, for which all takers would wait.
      if (silenceMs < MAX_IDLE_MS)
        await jobs.ensure(tx, { name: SILENCE }, { owner: null, payload: null, uniqueKey: RECURRING, runAt: until })
      const held = { status: 'human' as const, holder_id: holder.id, holder_name: holder.name, since: now, until }
      return change(tx, row, { ...held, fence: row.fence + 1 }, isHeld ? 'stolen' : 'taken', call)
    }

    /**
     * The holder passes the subject to another person. Passing it to oneself counts as activity. Throws 409 unless
     * `from` holds it.
     */
    async function pass(tx: Tx, subject: Subject, { call, from, to }: By & { from: string; to: Holder }) {
      const row = await rows.lock(tx, name, subject)
      assertHolds(title, row, from)
      const now = clock.now()
      const until = now + silenceMs
      if (to.id === from) return toTakeover(await rows.change(tx, row, { until }))
      const held = { holder_id: to.id, holder_name: to.name, since: now, until, fence: row.fence + 1 }
      return change(tx, row, held, 'handed', call)
    }

    /** Records activity of the holder, which restarts the timeout. Throws 409 unless this person holds the subject. */
    async function touch(tx: Tx, { id }: Subject, holderId: string): Promise<Takeover> {
      for (;;) {
        const held = await rows.touch(tx, name, id, holderId, clock.now() + silenceMs)
        if (held) return toTakeover(held)
        // Not locked, because the caller may hold locks that others take after this row. If the holder has it again by
        // now, the attempt is repeated.
        const [row] = await rows.find(tx, name, [id])
        if (!row) throw takeoverErrors.notHeld(title)
        assertHolds(title, row, holderId)
      }
    }

    /** Returns the subject to the AI from any state, and withdraws a request for a person. */
    async function release(tx: Tx, subject: Subject, { call }: By): Promise<Takeover> {
      const row = await rows.lock(tx, name, subject)
      return row.status === 'ai' ? toTakeover(row) : giveBack(tx, row, 'released', call)
    }

    function giveBack(tx: Tx, row: TakeoverRow, cause: 'released' | 'silent', call: By['call']): Promise<Takeover> {
      const nobody = { holder_id: null, holder_name: null, until: null, reason: null }
      const fencingToken = row.status === 'human' ? row.fence + 1 : row.fence
      return change(tx, row, { status: 'ai', ...nobody, since: clock.now(), fence: fencingToken }, cause, call)
    }

    async function change(
      tx: Tx,
      row: TakeoverRow,
      columns: Partial<TakeoverRow>,
      cause: Change['cause'],
      call: By['call'],
    ): Promise<Takeover> {
      const now = toTakeover(await rows.change(tx, row, columns))
      const subject = { id: row.subject_id, owner: row.owner }
      await changed(tx, { subject, before: toTakeover(row), now, cause, call })
      return now
    }
  }
}

function assertHolds(title: string, { status, holder_id, holder_name }: TakeoverRow, holderId: string): void {
  if (status !== 'human') throw takeoverErrors.notHeld(title)
  if (holder_id !== holderId) throw takeoverErrors.notYours(title, holder_name ?? '')
}

const MAX_WAITING = 200

/** The subjects of a kind that wait for a person, with the request's reason or null. */
export async function waitingOf(reader: Reader, kind: string): Promise<ReadonlyMap<string, string | null>> {
  const waiting = await rows.waiting(reader, kind, MAX_WAITING)
  return new Map(waiting.map(({ subject_id, reason }) => [subject_id, reason]))
}

/** The waiting subjects of these owners: the number per kind, and since when the first one waits (epoch ms). */
export async function waitingAmong(reader: Reader, owners: readonly OwnerScope[]) {
  const t = reader.of(takeovers)
  return reader
    .select({
      kind: t.kind,
      count: sql<number>`count(*)`.mapWith(Number),
      since: sql<number>`min(${t.since})`.mapWith(Number),
    })
    .from(t)
    .where(and(inArray(t.owner, [...owners]), eq(t.status, 'requested')))
    .groupBy(t.kind)
}

/**
 * For operators: since when each of these subjects has its status, and when it returns to the AI unless its holder
 * acts. Epoch ms.
 */
export async function stateOf(
  reader: Reader,
  kind: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Pick<TakeoverRow, 'since' | 'until'>>> {
  const found = ids.length ? await rows.find(reader, kind, ids) : []
  return new Map(found.map(({ subject_id, since, until }) => [subject_id, { since, until }]))
}
