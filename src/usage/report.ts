import type { Reader } from '../kernel/store'
import { nextTurn } from '../kernel/turns'
import { type Choice, callsAfter, callsIn, type Mark, rolledIn } from './report-repository'
import { newestId, skillsOf } from './rollup-repository'
import { planOf, type Span } from './spans'
import { createTally, type Tally } from './tally'

/** How many calls are looked at in one go. */
const PAGE = 2_000
/** Between two goes everyone else gets one (I28). */
export type Turn = () => Promise<void>

/**
 * Adds up the calls of a period, exactly: whole hours and days from the rollups, the ends of the period and
 * what is not rolled yet from the calls themselves. Its cost does not grow with the number of calls.
 */
export async function tallyOf(
  db: Reader,
  choice: Choice,
  span: Span,
  now: number,
  turn: Turn = nextTurn,
): Promise<Tally> {
  const tally = createTally(choice.skill, choice.withLatency)
  const plan = planOf(span, now)
  const { position, buckets } = await rolledIn(db, choice, plan)
  for (const bucket of buckets) tally.addBucket(bucket)
  for (const end of plan.calls) await addEnd(db, choice, end, position, tally, turn)
  await addTail(db, choice, plan.whole, position, tally, turn)
  return tally
}

async function addEnd(
  db: Reader,
  choice: Choice,
  end: Span,
  position: number,
  tally: Tally,
  turn: Turn,
): Promise<void> {
  let after: Mark | null = null
  for (;;) {
    const calls = await callsIn(db, choice, { ...end, upTo: position, after, limit: PAGE })
    await addCalls(db, calls, tally)
    if (calls.length < PAGE) return
    after = calls.at(-1)!
    await turn()
  }
}

async function addTail(
  db: Reader,
  choice: Choice,
  whole: Span,
  position: number,
  tally: Tally,
  turn: Turn,
): Promise<void> {
  const newest = (await newestId(db, {}))[0]?.id ?? 0
  for (let above = position; above < newest; above += PAGE) {
    if (above > position) await turn()
    const upTo = Math.min(above + PAGE, newest)
    await addCalls(db, await callsAfter(db, choice, { ...whole, above, upTo }), tally)
  }
}

async function addCalls(db: Reader, calls: Awaited<ReturnType<typeof callsIn>>, tally: Tally): Promise<void> {
  const skills = await skillsOf(db, calls)
  for (const call of calls) tally.addCall(call, skills.get(call.id))
}
