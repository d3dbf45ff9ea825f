import { usageFailure } from './failure'
import type { Shell } from './shell'

/** For commands marked R: the reason is recorded with the change (dx 2.3). @throws CommandFailed 2 */
export function requireReason({ globals }: Shell, command: string): string {
  if (globals.reason?.trim()) return globals.reason
  throw usageFailure(`${command} goes on the record and needs a reason.`, 'add --reason "…"')
}
