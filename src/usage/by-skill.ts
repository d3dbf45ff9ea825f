import { and, eq, gte, inArray, lt, sql } from 'drizzle-orm'
import type { Reader } from '../kernel/store'
import type { Span } from './spans'
import { usageRollups } from './table'

/** Calls of everyone that these skills took part in, by skill, over whole hours; counted up to the last rollup. */
export async function callsWithSkills(
  db: Reader,
  skills: readonly string[],
  { from, to }: Span,
): Promise<Map<string, number>> {
  if (!skills.length) return new Map()
  const t = db.of(usageRollups)
  const rows = await db
    .select({ skill: t.skill, calls: sql<number>`sum(${t.requests})`.mapWith(Number) })
    .from(t)
    .where(and(eq(t.grain, 'hour'), eq(t.api_key, ''), inArray(t.skill, [...skills]), gte(t.at, from), lt(t.at, to)))
    .groupBy(t.skill)
  return new Map(rows.map(({ skill, calls }) => [skill, calls]))
}
