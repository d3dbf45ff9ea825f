import type { Call, OperatorCaller } from '../kernel/caller'
import type { TopicName } from './schema-stream'
import {
  auditTopic,
  browserTopic,
  deliveriesTopic,
  jobsTopic,
  keysTopic,
  logsTopic,
  submissionsTopic,
  takeoversTopic,
} from './topics-lists'
import { overviewTopic } from './topics-overview'
import { cachedRead, createNames, type ReadTopic } from './topics-reading'

export type TopicDeps = Omit<Parameters<typeof readersOf>[0], 'names'> & Parameters<typeof createNames>[0]

/** How long a read is shared: a short list and a long list. */
const [SHARED_MS, LONG_MS] = [400, 2_000]
/** Number of rows in a list that operators browse. */
const LONGEST = 2_000

/** The data of the dashboard, by topic. Several dashboards share reads. */
export function createTopics(modules: TopicDeps, call: Call<OperatorCaller>) {
  const readers: Record<TopicName, ReadTopic> = readersOf({ ...modules, names: createNames(modules) }, call)
  return Object.fromEntries(
    Object.entries(readers).map(([name, read]) => [name, shared(modules.clock, read)]),
  ) as typeof readers
}

const readersOf = (
  deps: Parameters<typeof overviewTopic>[0] & Parameters<typeof jobsTopic>[0],
  call: Call<OperatorCaller>,
) => ({
  overview: overviewTopic(deps, call),
  jobs: jobsTopic(deps, call),
  deliveries: deliveriesTopic(deps),
  takeovers: takeoversTopic(deps, call),
  submissions: submissionsTopic(deps, call),
  browser: browserTopic(deps, call),
  keys: keysTopic(deps, call),
  audit: auditTopic(deps, call),
  logs: logsTopic(deps, call),
})

/** One read of the displayed length and one of the maximum length serve all dashboards. */
function shared(clock: TopicDeps['clock'], read: ReadTopic): ReadTopic {
  const few = cachedRead(clock, SHARED_MS, () => read())
  const many = cachedRead(clock, LONG_MS, () => read(LONGEST))
  return async (max) => {
    if (max === undefined) return few()
    const { facts, rows } = await many()
    return { facts, rows: rows.slice(0, max) }
  }
}

export type Readers = ReturnType<typeof readersOf>
