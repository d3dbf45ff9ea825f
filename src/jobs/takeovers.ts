import { and, asc, eq, inArray, isNotNull, lte, sql } from 'drizzle-orm'
import type { Call, Caller, OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { defineError } from '../kernel/errors'
import { command, type Reader, type Store, type Tx } from '../kernel/store'
import { LONGEST_REST_MS, RECURRING, recurring } from './kind'
import type { Jobs } from './service'
import { type TakeoverRow, takeovers } from './table'

/** `ai` → `requested` → `human` → `ai`; also from `ai` to `human` at once (docs/api.md 15). */
export type TakeoverStatus = 'ai' | 'requested' | 'human'

export type Holder = { id: string; name: string }
/** What is taken over. Its owner is checked by the module that it belongs to. */
type Subject = { id: string; owner: OwnerScope }

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

/** A kind of thing that can be taken over, declared by its module. */
type TakeoverKind = {
  /** Never changes, because rows hold it. */
  name: string
  /** How its errors call it: `conversation`. */
  title: string
  /** How long a person may do nothing, in milliseconds. */
  silenceMs: number
  /** What belongs to a change, in its transaction: record, event, and with `tx.afterCommit` whom to tell. */
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

const heldByAnother = defineError(
  'conflict',
  'conflict',
  (title: string, name: string) =>
    `${name} has taken over this ${title}. Wait until it is released, or send {"force":true} to take it from them.`,
)
const notHeld = defineError(
  'conflict',
  'conflict',
  (title: string) => `Nobody has taken over this ${title}. Take it over first.`,
)
const notYours = defineError(
  'conflict',
  'conflict',
  (title: string, name: string) => `${name} has taken over this ${title}, so only they act in it now.`,
)

const touchHeld = command<{ kind: string; id: string; holder: string; until: number }>()((tx, p) => {
  const t = tx.of(takeovers)
  return tx
    .update(t)
    .set({ until: sql`${p.until}` })
    .where(and(eq(t.kind, p.kind), eq(t.subject_id, p.id), eq(t.status, 'human'), eq(t.holder_id, p.holder)))
    .returning()
})

/** Rows of takeovers. The module of a subject has checked whose it is. */
const rows = {
  async find(db: Reader, kind: string, ids: readonly string[]): Promise<TakeoverRow[]> {
    const t = db.of(takeovers)
    return db
      .select()
      .from(t)
      .where(and(eq(t.kind, kind), inArray(t.subject_id, [...ids])))
  },

  /** Finds or makes the row, and keeps it from changing until the unit has committed. */
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

  /** Locks and lengthens what this holder has; undefined where they have not. */
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

  async remove(tx: Tx, kind: string, ids: readonly string[]): Promise<void> {
    const t = tx.of(takeovers)
    await tx.delete(t).where(and(eq(t.kind, kind), inArray(t.subject_id, [...ids])))
  },

  /** Those of a kind that wait for a person, of everyone; for operators. */
  waiting(db: Reader, kind: string, max: number): Promise<TakeoverRow[]> {
    const t = db.of(takeovers)
    return db
      .select()
      .from(t)
      .where(and(eq(t.kind, kind), eq(t.status, 'requested')))
      .limit(max)
  },

  /** When the first of all holders has been silent for too long, in epoch milliseconds; null when nobody holds one. */
  async soonest(db: Reader): Promise<number | null> {
    const t = db.of(takeovers)
    const [found] = await db.select({ at: sql<number | null>`min(${t.until})` }).from(t)
    return (found?.at ?? null) === null ? null : Number(found!.at)
  },

  /** Those whose holder has been silent for too long. */
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
/** Null where no account asks: a visitor, or the end of what is taken over. */
type By = { call: Call<Caller> | null }

export type Takeovers = ReturnType<typeof createTakeovers>

const SILENCE = 'takeovers.silence'
const LOOK_EVERY_MS = 30_000
const BATCH = 200

/**
 * Who has something, the AI or one person (docs/promises.md I36). Every change locks the subject's row in the caller's
 * unit of work, so changes come one after the other, also those of two processes, and commit with what they cause.
 */
export function createTakeovers({ store, clock, jobs }: Deps) {
  const kinds = new Map<string, { endSilent(tx: Tx, subject: Subject): Promise<void> }>()
  jobs.register(recurring(SILENCE, LOOK_EVERY_MS, endSilent, { dueAt: rows.soonest }))
  return { of, endSilent }

  /** Gives back what nobody touched for too long. */
  async function endSilent(): Promise<number> {
    const due = await rows.silent(store.read, clock.now(), BATCH)
    for (const { kind, subject_id: id, owner } of due)
      await store.write(async (tx) => kinds.get(kind)?.endSilent(tx, { id, owner }))
    return due.length
  }

  /** Declares a kind; once in each process, where its module is built. */
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
      /** For subjects that are no more. */
      forget: (tx: Tx, ids: readonly string[]) => rows.remove(tx, name, ids),
    }

    /** By subject; one that is missing was never asked for: it is with the AI. */
    async function readAll(reader: Reader, ids: readonly string[]): Promise<Map<string, Takeover>> {
      const found = ids.length ? await rows.find(reader, name, ids) : []
      return new Map(found.map((row) => [row.subject_id, toTakeover(row)]))
    }

    /** As `read`, and it stays so until the unit has committed. */
    async function lock(tx: Tx, subject: Subject): Promise<Takeover> {
      return toTakeover(await rows.lock(tx, name, subject))
    }

    /** Asks for a person. Changes nothing where one was asked for, or has it. */
    async function request(tx: Tx, subject: Subject, { call, reason = null }: By & { reason?: string | null }) {
      const row = await rows.lock(tx, name, subject)
      if (row.status !== 'ai') return toTakeover(row)
      return change(tx, row, { status: 'requested', since: clock.now(), reason }, 'requested', call)
    }

    /** Gives it to one person. Throws 409 where another one has it, unless forced; for the holder it is a touch. */
    async function take(tx: Tx, subject: Subject, taken: By & { holder: Holder; force?: boolean }): Promise<Takeover> {
      const { call, holder, force = false } = taken
      const row = await rows.lock(tx, name, subject)
      const now = clock.now()
      const until = now + silenceMs
      const isHeld = row.status === 'human'
      if (isHeld && row.holder_id === holder.id && row.holder_name === holder.name) {
        return toTakeover(await rows.change(tx, row, { until }))
      }
      if (isHeld && !force) throw heldByAnother(title, row.holder_name ?? '')
      // A longer silence is seen by the next look. The job is one row, for which all who take something would wait.
      if (silenceMs < LONGEST_REST_MS)
        await jobs.ensure(tx, { name: SILENCE }, { owner: null, payload: null, uniqueKey: RECURRING, runAt: until })
      const held = { status: 'human' as const, holder_id: holder.id, holder_name: holder.name, since: now, until }
      return change(tx, row, { ...held, fence: row.fence + 1 }, isHeld ? 'stolen' : 'taken', call)
    }

    /** Its holder gives it to another person; for oneself it is a touch. Throws 409 unless `from` has it. */
    async function pass(tx: Tx, subject: Subject, { call, from, to }: By & { from: string; to: Holder }) {
      const row = await rows.lock(tx, name, subject)
      assertHolds(title, row, from)
      const now = clock.now()
      const until = now + silenceMs
      if (to.id === from) return toTakeover(await rows.change(tx, row, { until }))
      const held = { holder_id: to.id, holder_name: to.name, since: now, until, fence: row.fence + 1 }
      return change(tx, row, held, 'handed', call)
    }

    /** The holder does something, so the time of silence begins again. Throws 409 unless this person has it. */
    async function touch(tx: Tx, { id }: Subject, holderId: string): Promise<Takeover> {
      for (;;) {
        const held = await rows.touch(tx, name, id, holderId, clock.now() + silenceMs)
        if (held) return toTakeover(held)
        // Not locked: the caller may have what others lock after it. Theirs by now, it was taken since, and is tried
        // again.
        const [row] = await rows.find(tx, name, [id])
        if (!row) throw notHeld(title)
        assertHolds(title, row, holderId)
      }
    }

    /** Back to the AI, from any state; a request for a person is withdrawn too. */
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
  if (status !== 'human') throw notHeld(title)
  if (holder_id !== holderId) throw notYours(title, holder_name ?? '')
}

const MAX_WAITING = 200

/** Which subjects of a kind wait for a person, and what the person is asked to do; null where nothing was said. */
export async function waitingOf(reader: Reader, kind: string): Promise<ReadonlyMap<string, string | null>> {
  const waiting = await rows.waiting(reader, kind, MAX_WAITING)
  return new Map(waiting.map(({ subject_id, reason }) => [subject_id, reason]))
}

/** What of these owners waits for a person: how many of each kind, and since when the first one does (epoch ms). */
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
 * Since when each of these subjects has its status, and when it goes back to the AI unless its holder does something;
 * epoch ms. For operators.
 */
export async function stateOf(
  reader: Reader,
  kind: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Pick<TakeoverRow, 'since' | 'until'>>> {
  const found = ids.length ? await rows.find(reader, kind, ids) : []
  return new Map(found.map(({ subject_id, since, until }) => [subject_id, { since, until }]))
}
