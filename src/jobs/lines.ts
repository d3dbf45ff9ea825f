import { sql } from 'drizzle-orm'
import { query } from '../kernel/store'
import { jobPauses, jobs } from './table'

/** Asks which of these kinds have a job in line and are not paused, in one statement. */
export const linesOf = (kinds: readonly string[]) =>
  query()((db) => {
    const t = db.of(jobs)
    const known = sql.join(
      kinds.map((kind) => sql`(${kind})`),
      sql`, `,
    )
    const p = db.of(jobPauses)
    const inLine = sql`exists (select 1 from ${t} where ${t.kind} = known.column1 and ${t.turn} is not null)`
    const isPaused = sql`exists (select 1 from ${p} where ${p.kind} = known.column1)`
    return db
      .select({ kind: sql<string>`known.column1`.as('kind') })
      .from(sql`(values ${known}) as known`)
      .where(sql`${inLine} and not ${isPaused}`)
  })
