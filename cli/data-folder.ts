import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Command } from './command'
import { unreachable } from './failure'
import type { Shell } from './shell'

/** What a first start or a migration leaves; a restored folder has the first two. */
const MARKS = ['secrets.json', 'svc.db', 'server.lock']

/**
 * Keeps a mistyped place from becoming a new, empty server. Only a change at the place that the configuration names may
 * make its folder: production wants an engine and a key before its first start. Nor is there a backup of nothing.
 * @throws CommandFailed 7
 */
export function assertDataFolder(shell: Shell, { impact, needsData = false }: Command, dataDir: string): void {
  if (MARKS.some((name) => existsSync(join(dataDir, name)))) return
  const near = relative(shell.cwd, dataDir)
  const place = near.startsWith('..') ? dataDir : near || '.'
  const flag = shell.globals.dataDir ? ` --data-dir ${place}` : ''
  if (flag || needsData || impact === 'read') {
    throw unreachable(
      `There is no data folder at ${place}.`,
      `choose another with --data-dir, or create it: svc-admin migrate up${flag}, svc-admin serve${flag}`,
    )
  }
  shell.note(`There was no data folder at ${place}; a new one is created.`)
}
