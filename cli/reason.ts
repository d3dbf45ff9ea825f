import { usageFailure } from './failure'
import type { Shell } from './shell'

/** For commands marked R: the reason is recorded with the change (dx 2.3), so a dry run has none. @throws CommandFailed 2 */
export function requireReason({ globals }: Shell, command: string): string {
  const { reason = '', dryRun } = globals
  if (reason.trim() || dryRun) return reason
  throw usageFailure(`${command} is recorded and needs a reason.`, 'add --reason "…"')
}
