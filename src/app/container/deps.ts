import type { Clock } from '../../kernel/clock'
import type { Log } from '../../kernel/log'
import type { SigningKey } from '../../kernel/signing'
import type { Store } from '../../kernel/store'
import type { Config } from '../config'
import type { Redis } from '../redis'

/** What the rooms are built from. */
export type Deps = {
  config: Config
  store: Store
  clock: Clock
  log: Log
  /** Signs the checkpoints of the record. */
  auditKey: SigningKey
  /** Seals what is stored and must be read again. */
  masterKey: Uint8Array
  /** Where browsers find this server: its public URL, or where it listens. */
  origin(): string
  /** This process, new at each start. */
  node: string
  /** Null where none is configured. */
  redis: Redis | null
  /** Counts engine calls by engine and outcome. */
  observeEngine(engineId: string, outcome: string): void
  /** Aborts when streams must end because the server stops. */
  stopping: AbortSignal
}

/** Words of a setting that lists them. */
export const words = (list: string): string[] =>
  list
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
