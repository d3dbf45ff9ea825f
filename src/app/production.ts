import { ConfigError } from '../kernel/config'
import type { Config } from './config'
import { remoteProblems } from './remote-operators'

/** Throws ConfigError with everything that forbids a production start, in one message (dx 4.5). */
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
