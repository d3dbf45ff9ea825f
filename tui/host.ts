import type { TopicName } from '../src/operators/schema'

/** What the dashboard needs of whoever starts it: the server, and the commands of `svc-admin`. */
export type Host = {
  /** Server-sent events of these topics. Rejects when no answer comes. */
  stream(topics: readonly TopicName[], ended: AbortSignal): Promise<Response>
  /** What `GET /ops/v1/PATH` answers. Throws with a sentence. */
  read(path: string): Promise<unknown>
  /** Runs one command line against the same server; `yes` answers its confirmation. */
  run(argv: readonly string[], yes: boolean): Promise<{ exitCode: number; out: string; err: string }>
  /** Writes a secret to a file of this user only. Returns its path. */
  save(text: string): Promise<string>
  /** Keeps the details of a fault. Returns where they are. */
  crashed(error: unknown): string
}
