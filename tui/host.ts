import type { TopicName } from '../src/operators/schema'

/** Topics that are asked for, and how many rows of each, where that is more than the server gives by itself. */
export type Wanted = { topics: readonly TopicName[]; most: number | null }

/** As the query of a request. */
export const queryOf = ({ topics, most: max }: Wanted): string =>
  `topics=${topics.join(',')}${max === null ? '' : `&most=${max}`}`

/** What the dashboard needs of whoever starts it: the server, and the commands of `svc-admin`. */
export type Host = {
  /** Server-sent events of these topics. Rejects when no answer comes. */
  stream(wanted: Wanted, ended: AbortSignal): Promise<Response>
  /** What `GET /ops/v1/PATH` answers; `ended` gives up. Throws with a sentence. */
  read(path: string, ended?: AbortSignal): Promise<unknown>
  /** Runs one command line against the same server; `yes` answers its confirmation. */
  run(argv: readonly string[], yes: boolean): Promise<{ exitCode: number; out: string; err: string }>
  /** Writes a secret to a file of this user only. Returns its path. */
  save(text: string): Promise<string>
  /** Keeps the details of a fault. Returns where they are. */
  crashed(error: unknown): string
}
