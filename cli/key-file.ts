import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from './command'
import { EXIT } from './exit'
import { CommandFailed } from './failure'
import type { Shell } from './shell'
import { fromHere, type Transport } from './transport'

export const OPERATOR_KEY = 'svc_op_'

export type Found = { key: string; source: string }

/**
 * The key to use: `--key-file`, the environment, or, on the server's machine, the one the first run left. Commands only
 * for operators look for the operator key first. A key is never the value of a flag (dx 2.3).
 * @throws CommandFailed 4 when there is none
 */
export function findKey(
  { globals, env, cwd }: Shell,
  dataDir: string,
  { kind }: Transport,
  { apis }: Pick<Command, 'apis'>,
): Found {
  if (globals.keyFile) return { key: readKey(fromHere(cwd, globals.keyFile)), source: globals.keyFile }
  const names = ['SVC_API_KEY', 'SVC_OPERATOR_KEY']
  for (const name of apis.includes('tenant') ? names : names.reverse()) {
    const key = env[name]?.trim()
    if (key) return { key, source: name }
  }
  const left = join(dataDir, 'dev-key')
  if (kind !== 'remote' && existsSync(left)) return { key: readKey(left), source: left }
  throw new CommandFailed({
    exitCode: EXIT.refused,
    code: 'invalid_api_key',
    message: 'This command needs a key.',
    fix:
      kind === 'remote'
        ? 'add --key-file FILE, or set SVC_API_KEY or SVC_OPERATOR_KEY'
        : 'svc-admin keys create --name cli --secret-to key.txt, then add --key-file key.txt',
    help: 'error invalid_api_key',
  })
}

function readKey(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CommandFailed({
      exitCode: EXIT.usage,
      code: 'usage',
      message: `The key file ${path} cannot be read (${code ?? 'unknown reason'}).`,
    })
  }
}
