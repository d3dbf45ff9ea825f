type Facts = Readonly<Record<string, string | number | boolean | null>>

/** One step of a request that has ended, for operators who analyse the request. */
export type TraceStep = {
  /** `stage` of a completion, one attempt at an `engine`, one call of a `tool`, or the `settled` call. */
  kind: 'stage' | 'engine' | 'tool' | 'settled'
  name: string
  /** Duration of the step. */
  ms: number
  /** Short facts for operators: outcomes, errors, sums. Never contains texts of requests or answers. */
  facts?: Facts
}

/** Notes a finished step of the request with this id. Runs for every request, so it is cheap and never throws. */
export type Trace = (requestId: string, kind: TraceStep['kind'], name: string, ms: number, facts?: Facts) => void
