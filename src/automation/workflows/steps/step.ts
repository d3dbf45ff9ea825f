import type { Call } from '../../../kernel/caller'
import type { Tx } from '../../../kernel/store'
import type { StepType } from '../schema'
import type { Pause, RunRow } from '../table'
import type { ConfigOf } from './kinds'

/** What a step does its work with: its filled-in config, and what came before it. */
export type Doing<Type extends StepType> = {
  config: ConfigOf<Type>
  /** Index of the step. */
  at: number
  run: RunRow
  call: Call
  /** The text of the step before. */
  previous: string
  /** What expressions read. */
  values: Readonly<Record<string, unknown>>
  /** The same for each try of this step: receivers that know it do the work once (I38). */
  key: string
  /** Stores the result of the step in a transaction of its own making; what it wrote then commits with it. */
  keep(tx: Tx, done: Done): Promise<void>
}

/** How a step ended well. */
export type Done = {
  output: unknown
  /** Micro-cents. */
  cost?: number
  /** Index of the step that comes next, where the step decides. */
  next?: number | undefined
  /** Why it failed all the same, after it was paid for; null when it did not. */
  error?: string | null
  /** Commits with the result. */
  effects?(tx: Tx): Promise<unknown>
}

/** A step waits for a person or a time. */
export class Paused {
  constructor(readonly pause: Pause) {}
}

/** The step was stored by `keep`. */
export const STORED = Symbol('kept')

/** A step that did not succeed; the message is for the owner of the workflow. */
export class StepFailure extends Error {
  override name = 'StepFailure'
}

export type StepRunner<Type extends StepType> = (doing: Doing<Type>) => Promise<Done | Paused | typeof STORED>
