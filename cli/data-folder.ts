import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Config } from '../src/app/config'
import type { Command } from './command'
import { unreachable } from './failure'
import type { Shell } from './shell'

/** What a first start or a migration leaves; a restored folder has the first two. */
const MARKS = ['secrets.json', 'svc.db', 'server.lock']

/**
 * Keeps a command in the wrong folder from creating a new, empty server: only `serve`, `init`, `migrate up` and the
 * `dev` commands create one.
 * @throws CommandFailed 7
 */
export function assertDataFolder(shell: Shell, { path }: Command, { dataDir, production }: Config): void {
  if (MARKS.some((name) => existsSync(join(dataDir, name)))) return
  const near = relative(shell.cwd, dataDir)
  const place = near.startsWith('..') ? dataDir : near || '.'
  if (path.startsWith('dev ')) return
  const flag = shell.globals.dataDir ? ` --data-dir ${place}` : ''
  // A production start wants an engine first.
  const creates = production ? 'migrate up' : 'serve'
  throw unreachable(
    `There is no server here: there is no data folder at ${place}.`,
    `cd to the folder of the server, or add --data-dir or --url; svc-admin ${creates}${flag} creates a new server`,
  )
}
