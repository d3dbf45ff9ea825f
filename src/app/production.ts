import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createBuiltinDriver, createEngines, type EngineService } from '../engines'
import { type Clock, systemClock } from '../kernel/clock'
import { ConfigError } from '../kernel/config'
import { createLog, type Log } from '../kernel/log'
import type { Config } from './config'
import { remoteProblems } from './remote-operators'

/** Throws ConfigError with everything that forbids a production start, in one message (docs/operating.md 4.5). */
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

/** Throws ConfigError with everything that forbids a start in production mode; in development nothing does. */
export function assertMayServe(config: Config, more: { clock?: Clock; log?: Log } = {}): void {
  if (!config.production) return
  const { clock = systemClock, log = createLog({ level: 'silent', pretty: false, write: () => undefined }) } = more
  const engines = createEngines({ settings: config, clock, log, builtin: createBuiltinDriver({ clock }) })
  // What operators connected while a server ran is in its database, and is looked at once that is open.
  const isNew = !config.databaseUrl && !existsSync(join(config.dataDir, 'svc.db'))
  assertProductionReady(config, isNew ? unmappedModes(engines) : [])
}

/** Modes that the built-in engine answers. Pictures and videos need no model: the server draws them itself. */
export const unmappedModes = ({ mapping }: Pick<EngineService, 'mapping'>): string[] =>
  mapping()
    .filter(({ makes, targets }) => makes === 'text' && targets.some(({ kind }) => kind === 'builtin'))
    .map(({ mode }) => mode)
