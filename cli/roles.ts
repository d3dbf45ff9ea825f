import { type OperatorRole, seesContent } from '../src/kernel/caller'
import type { Command } from './command'
import { CommandFailed, EXIT, expectData } from './failure'
import type { Shell } from './shell'

/** Commands that a role besides admin may run (docs/operating.md 2.2). The server decides, and a test compares both. */
const ROLES: readonly (readonly [RegExp, OperatorRole])[] = [
  [/^(credits .+|tiers set|limits (approve|reject))$/, 'billing'],
  [/^(submissions .+|skills (import|disable|enable))$/, 'reviewer'],
  [/^(takeovers .+|browser (live|open)|routing suggest|users link|open)$/, 'support'],
]

/** True if a role may run a command that changes something. */
export const mayRun = (role: OperatorRole, path: string): boolean =>
  role === 'admin' || ROLES.some(([paths, known]) => known === role && paths.test(path))

/**
 * Rejects roles that receive empty members, because the command copies or compares complete objects. @throws
 * CommandFailed 4
 */
export async function assertSeesContent(shell: Shell): Promise<void> {
  const { api, ops } = await shell.connect()
  if (api !== 'operator') return
  const { role } = expectData(await ops().status.get()).operator
  if (seesContent(role)) return
  throw forbidden(`The role ${role} cannot see what people wrote. Ask an operator with the role support.`)
}

/** Rejects a `--dry-run` when the server would reject the change itself. @throws CommandFailed 4 */
export async function assertRole(shell: Shell, { path }: Command): Promise<void> {
  const { transport, api, ops } = await shell.connect()
  if (transport.kind !== 'remote' || api !== 'operator') return
  const { role } = expectData(await ops().status.get()).operator
  if (mayRun(role, path)) return
  throw forbidden(`The role ${role} cannot run ${path}. Ask an operator with another role.`)
}

const forbidden = (message: string): CommandFailed =>
  new CommandFailed({ exitCode: EXIT.refused, code: 'forbidden', message, help: 'error forbidden' })
