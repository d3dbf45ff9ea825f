import { inParallel } from '../chaos/parallel'

export type StormReport = {
  requests: number
  /** Answers that were not replays. */
  executions: number
  replays: number
  conflicts: number
  /** What must not be, in sentences. */
  violations: string[]
}

type Storm = {
  keys: number
  /** Requests with one key, all sent at once. */
  parallel: number
  send(key: string, number: number): Promise<{ status: number; text: string; isReplay: boolean }>
}

/**
 * docs/promises.md I10: many keys, each sent by many at once. Of each key exactly one request runs; the others are told
 * that it runs or get its answer, and anyone who asks afterwards gets it too.
 */
export async function runStorm({ keys, parallel, send }: Storm): Promise<StormReport> {
  const report: StormReport = { requests: 0, executions: 0, replays: 0, conflicts: 0, violations: [] }
  const numbers = Array.from({ length: keys }, (_, number) => number)
  report.violations = await inParallel(numbers, async (number) => {
    const key = `storm-${number}`
    const replies = await Promise.all(Array.from({ length: parallel }, () => send(key, number)))
    const done = replies.filter(({ status }) => status < 300)
    const first = done.filter(({ isReplay }) => !isReplay)
    const conflicts = replies.filter(({ status }) => status === 409)
    const last = await send(key, number)
    report.requests += replies.length
    report.executions += first.length
    report.replays += done.length - first.length
    report.conflicts += conflicts.length
    return [
      ...(first.length === 1 ? [] : [`${key} ran ${first.length} times`]),
      ...(new Set(done.map(({ text }) => text)).size === 1 ? [] : [`${key} was answered in different bytes`]),
      ...(done.length + conflicts.length === parallel ? [] : [`${key} was answered neither 2xx nor 409`]),
      ...(last.isReplay && last.text === done[0]?.text ? [] : [`${key} is not replayed afterwards`]),
    ]
  })
  return report
}
