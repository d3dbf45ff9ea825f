import type { Observe } from '../engines'
import type { Clock } from '../kernel/clock'
import type { Log } from '../kernel/log'
import type { SigningKey } from '../kernel/signing'
import type { Store } from '../kernel/store'
import type { UsageEntry } from '../usage'
import type { Config } from './config'
import type { Redis } from './redis'
import type { Telemetry } from './telemetry'

/** What the rooms are built from: configuration, infrastructure and keys. */
export type Deps = {
  config: Config
  store: Store
  clock: Clock
  /** Told how far the clock of this machine is ahead of the database's, in milliseconds. */
  onClock(aheadMs: number): void
  log: Log
  /** Signs the checkpoints of the audit record. */
  auditKey: SigningKey
  /** Encrypts stored secrets that must be read again. */
  masterKey: Uint8Array
  /** The origin by which browsers reach this server: its public URL, or the address it listens on. */
  origin(): string
  /** Random id of this process, new at each start. */
  node: string
  /** Id of the data folder. */
  home: string
  /** False for one command, which does nothing for others. */
  serving: boolean
  /** Null when no Redis is configured. */
  redis: Redis | null
  /** Counts engine calls by engine and outcome. */
  observeEngine: Observe
  /** Counts each charged call by what it consumed. */
  observeCall(entry: UsageEntry): void
  /** Where traces and metrics go; null unless a collector is set. */
  telemetry: Telemetry | null
  /** Aborts when the server is about to stop. */
  leaving: AbortSignal
  /** Aborts when streams must end because the server stops. */
  stopping: AbortSignal
}

/** Splits a comma-separated setting into its words. */
export const words = (list: string): string[] =>
  list
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
