import type { Reader } from '../kernel/store'
import { nextTurn } from '../kernel/turns'
import { grainsOf } from './buckets'
import { type Calls, daySumsOf, momentAfter, rolledCalls, skillSumsOf, sumsOf } from './call-repository'
import { type Choice, rolledIn } from './report-repository'
import { planOf, type Span } from './spans'
import { SLICE, type Turn, tailOf } from './tail'
import { createTally, type Tally } from './tally'

/**
 * Exact sums over a period: whole days, hours and slots come from the rollups, the ends of the period and calls that
 * are not rolled up yet from the records. The cost does not grow with the number of calls.
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
  for await (const calls of tailOf(db, choice, plan.whole, position, turn)) await addCalls(db, choice, calls, tally)
  return tally
}

async function addEnd(db: Reader, choice: Choice, end: Span, upTo: number, tally: Tally, turn: Turn): Promise<void> {
  for (let from = end.from; from < end.to; ) {
    if (from > end.from) await turn()
    const next = await momentAfter(db, choice, { from, to: end.to }, SLICE)
    // A slice is at least one millisecond long, however many calls it has.
    const to = next === null ? end.to : Math.max(next, from + 1)
    await addCalls(db, choice, rolledCalls(db, choice, { from, to, upTo }), tally)
    from = to
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
