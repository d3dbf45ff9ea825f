import { and, gte, inArray, lt, sql } from 'drizzle-orm'
import { command, type Reader, type Tx } from '../kernel/store'
import type { Bucket } from './buckets'
import type { Span } from './spans'
import { skillCalls } from './table'

const addCalls = command<{ skill: string; at: number; calls: number }>()((tx, p) => {
  const t = tx.of(skillCalls)
  return tx
    .insert(t)
    .values({ skill: p.skill, at: p.at, calls: p.calls })
    .onConflictDoUpdate({ target: [t.skill, t.at], set: { calls: sql`${t.calls} + excluded.calls` } })
})

/** Adds calls to the hourly counts of their skills. Only hour buckets over all keys are used: they have each call once. */
export async function addSkillCalls(tx: Tx, buckets: readonly Bucket[]): Promise<void> {
  const hours = buckets.filter(({ grain, api_key, skill }) => grain === 'hour' && api_key === '' && skill !== '')
  const sums = new Map<string, { skill: string; at: number; calls: number }>()
  for (const { skill, at, sums: added } of hours) {
    const name = `${skill} ${at}`
    const sum = sums.get(name) ?? { skill, at, calls: 0 }
    sums.set(name, { ...sum, calls: sum.calls + added.requests })
  }
  for (const sum of sums.values()) await addCalls(tx, sum)
}

/**
 * Calls that used these skills, by skill, over whole hours and up to the last rollup. Counts only, with no owner,
 * because the author of a skill asks about other people's calls.
 */
export async function callsWithSkills(
  db: Reader,
  skills: readonly string[],
  { from, to }: Span,
): Promise<Map<string, number>> {
  if (!skills.length) return new Map()
  const t = db.of(skillCalls)
  const rows = await db
    .select({ skill: t.skill, calls: sql<number>`sum(${t.calls})`.mapWith(Number) })
    .from(t)
    .where(and(inArray(t.skill, [...skills]), gte(t.at, from), lt(t.at, to)))
    .groupBy(t.skill)
  return new Map(rows.map(({ skill, calls }) => [skill, calls]))
}
