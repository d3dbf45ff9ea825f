import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createBuiltinDriver, createEngines, type EngineService } from '../engines'
import { type Clock, systemClock } from '../kernel/clock'
import { ConfigError } from '../kernel/config'
import { createLog, type Log } from '../kernel/log'
import type { Config } from './config'
import { remoteProblems } from './remote-operators'

/** Throws one ConfigError with all problems that forbid a production start (docs/operating.md 4.5). */
export function assertProductionReady(config: Config, unmappedModes: readonly string[]): void {
  if (!config.production) return
  const problems: string[] = []
  if (!config.publicUrl.startsWith('https://')) {
    problems.push('SVC_PUBLIC_URL is missing or not https://. Set it to the address clients use.')
  }
  if (unmappedModes.length) {
    problems.push(
      `The built-in engine answers ${unmappedModes.join(', ')}. Connect one with svc-admin engines add, or set SVC_ENGINE_BUILTIN=0 so that they answer 503.`,
    )
  }
  problems.push(...remoteProblems(config))
  if (config.failpoint) problems.push('SVC_FAILPOINT is set; it aborts the process on purpose. Unset it.')
  if (problems.length) throw new ConfigError(problems)
}

/** Throws ConfigError with all problems that forbid a start in production mode. Development mode has no such checks. */
export function assertMayServe(config: Config, more: { clock?: Clock; log?: Log } = {}): void {
  if (!config.production) return
  const { clock = systemClock, log = createLog({ level: 'silent', pretty: false, write: () => undefined }) } = more
  const engines = createEngines({ settings: config, clock, log, builtin: createBuiltinDriver({ clock }) })
  // Engines that operators connected while a server ran are in its database, which is checked once it is open.
  const isNew = !config.databaseUrl && !existsSync(join(config.dataDir, 'svc.db'))
  assertProductionReady(config, isNew ? unmappedModes(engines) : [])
}

/** Modes that the built-in engine answers. Pictures and videos do not count, because the server itself draws them. */
export const unmappedModes = ({ mapping }: Pick<EngineService, 'mapping'>): string[] =>
  mapping()
    .filter(({ makes, targets }) => makes === 'text' && targets.some(({ kind }) => kind === 'builtin'))
    .map(({ mode }) => mode)
