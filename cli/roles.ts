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
  const role = await roleOf(shell)
  if (role === null || seesContent(role)) return
  throw forbidden(`The role ${role} cannot see what people wrote. Ask an operator with the role support.`)
}

/** Rejects a `--dry-run` when the server would reject the change itself. @throws CommandFailed 4 */
export async function assertRole(shell: Shell, { path }: Command): Promise<void> {
  const role = (await shell.connect()).transport.kind === 'remote' ? await roleOf(shell) : null
  if (role === null || mayRun(role, path)) return
  throw forbidden(`The role ${role} cannot run ${path}. Ask an operator with another role.`)
}

/** Null for a tenant. */
async function roleOf(shell: Shell): Promise<OperatorRole | null> {
  const { api, ops } = await shell.connect()
  return api === 'operator' ? expectData(await ops().status.get()).operator.role : null
}

const forbidden = (message: string): CommandFailed =>
  new CommandFailed({ exitCode: EXIT.refused, code: 'forbidden', message, help: 'error forbidden' })
