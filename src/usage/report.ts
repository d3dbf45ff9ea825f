import type { Reader } from '../kernel/store'
import { nextTurn } from '../kernel/turns'
import { grainsOf } from './buckets'
import { type Calls, daySumsOf, momentAfter, newCalls, rolledCalls, skillSumsOf, sumsOf } from './call-repository'
import { type Choice, rolledIn } from './report-repository'
import { newestId } from './rollup-repository'
import { planOf, type Span } from './spans'
import { createTally, type Tally } from './tally'

/** How many calls are looked at in one go. */
const SLICE = 4_000
/** Between two goes everyone else gets one (I28). */
export type Turn = () => Promise<void>

/**
 * Adds up the calls of a period, exactly: whole days, hours and slots from the rollups, the ends of the period and
 * what is not rolled yet from the calls themselves. Its cost does not grow with the number of calls.
 */
export async function tallyOf(
  db: Reader,
  choice: Choice,
  span: Span,
  now: number,
  turn: Turn = nextTurn,
): Promise<Tally> {
  const tally = createTally(choice.skill)
  const plan = planOf(span, now, grainsOf(choice.keyId ?? ''))
  const { position, buckets } = await rolledIn(db, choice, plan)
  for (const bucket of buckets) tally.addBucket(bucket)
  for (const end of plan.calls) await addEnd(db, choice, end, position, tally, turn)
  await addTail(db, choice, plan.whole, position, tally, turn)
  return tally
}

async function addEnd(db: Reader, choice: Choice, end: Span, upTo: number, tally: Tally, turn: Turn): Promise<void> {
  for (let from = end.from; from < end.to; ) {
    if (from > end.from) await turn()
    const next = await momentAfter(db, choice, { from, to: end.to }, SLICE)
    // A millisecond is not divided, however many calls it has.
    const to = next === null ? end.to : Math.max(next, from + 1)
    await addCalls(db, choice, rolledCalls(db, choice, { from, to, upTo }), tally)
    from = to
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
  for (let above = position; above < newest; above += SLICE) {
    if (above > position) await turn()
    const upTo = Math.min(above + SLICE, newest)
    await addCalls(db, choice, newCalls(db, choice, { ...whole, above, upTo }), tally)
  }
}

async function addCalls(db: Reader, { skill, brief }: Choice, calls: Calls, tally: Tally): Promise<void> {
  if (brief) {
    for (const sums of await daySumsOf(db, calls)) tally.addSums(sums)
    return
  }
  for (const sums of await sumsOf(db, calls)) {
    tally.addSums(sums)
    for (const ms of sums.latencies) tally.addLatency(ms)
  }
  if (skill === undefined) for (const sums of await skillSumsOf(db, calls)) tally.addSkill(sums)
}
