import { and, eq, gte, isNotNull, lt, or, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { command, query, type Reader, type Tx } from '../kernel/store'
import { speedFields } from './call-fields'
import type { Calls } from './call-repository'
import { addEncoded, encode, type Histogram, noCalls } from './latency'
import { CURSOR } from './rollup-repository'
import type { Plan } from './spans'
import type { Speed, Timed } from './speeds'
import { type SpeedRow, usageCursors, usageRecords, usageSpeeds } from './table'

type SpeedKey = Pick<SpeedRow, 'owner' | 'grain' | 'at' | 'mode'>

const speedAt = query<SpeedKey>()((db, p) => {
  const t = db.of(usageSpeeds)
  return db
    .select({ ttft: t.ttft, classified: t.classified })
    .from(t)
    .where(and(eq(t.owner, p.owner), eq(t.grain, p.grain), eq(t.at, p.at), eq(t.mode, p.mode)))
})

const putSpeed = command<SpeedRow>()((tx, p) => {
  const t = tx.of(usageSpeeds)
  return tx
    .insert(t)
    .values({
      owner: p.owner,
      grain: p.grain,
      at: p.at,
      mode: p.mode,
      ttft: p.ttft,
      classified: p.classified,
      failovers: p.failovers,
    })
    .onConflictDoUpdate({
      target: [t.owner, t.grain, t.at, t.mode],
      set: {
        ttft: sql`excluded.ttft`,
        classified: sql`excluded.classified`,
        failovers: sql`${t.failovers} + excluded.failovers`,
      },
    })
})

/** Adds to the hourly and daily rows, in the transaction that moves the cursor past these records. */
export async function addSpeeds(tx: Tx, speeds: readonly Speed[]): Promise<void> {
  const scratch = noCalls()
  for (const { ttft, classified, ...rest } of speeds) {
    const [known] = await speedAt(tx, rest)
    await putSpeed(tx, {
      ...rest,
      ttft: merged(scratch, known?.ttft ?? '', ttft),
      classified: merged(scratch, known?.classified ?? '', classified),
    })
  }
}

function merged(scratch: Histogram, known: string, cells: readonly number[]): string {
  scratch.fill(0)
  addEncoded(scratch, known)
  for (const cell of cells) scratch[cell]! += 1
  return encode(scratch)
}

type Rolled = Omit<SpeedRow, 'owner' | 'grain' | 'at'>

/** The rows of a plan, and the cursor position they were read at. */
export async function speedsIn(
  db: Reader,
  owner: OwnerScope,
  { rolled }: Plan,
): Promise<{ position: number; rows: Rolled[] }> {
  const [c, s] = [db.of(usageCursors), db.of(usageSpeeds)]
  const spans = rolled.map(({ grain, from, to }) => and(eq(s.grain, grain), gte(s.at, from), lt(s.at, to)))
  const found = await db
    .select({ position: c.position, mode: s.mode, ttft: s.ttft, classified: s.classified, failovers: s.failovers })
    .from(c)
    .leftJoin(s, and(eq(s.owner, owner), or(...spans)))
    .where(eq(c.name, CURSOR))
  return { position: found[0]?.position ?? 0, rows: found.filter(({ mode }) => mode !== null) as Rolled[] }
}

/** Calls with a value that benchmarks use. */
export function timedCalls(db: Reader, calls: Calls): Promise<Timed[]> {
  const t = db.of(usageRecords)
  const hasMeasurement = or(isNotNull(t.ttft_ms), isNotNull(t.classified_us), eq(t.fallback_used, true))
  return db
    .select({ owner: t.owner, at: t.at, mode: t.mode, resolved_mode: t.resolved_mode, ...speedFields(t) })
    .from(t)
    .where(and(calls, hasMeasurement)) as unknown as Promise<Timed[]>
}
