import type { CheckedBackup } from '../../src/app/backups'
import { defineCommand } from '../command'
import { EXIT } from '../exit'
import { CheckFailed, CommandFailed, expectData } from '../failure'
import { column } from '../output/columns'
import { overridesOf } from '../overrides'
import type { Shell } from '../shell'
import { fromHere } from '../transport'
import { argument, text } from '../words'

const columns = [
  column('path', 'FOLDER'),
  column('file', 'FILE'),
  column('bytes', 'BYTES', { kind: 'number' }),
  column('sha256', 'SHA-256'),
  column('files.count', 'FILES', { kind: 'number' }),
  column('created', 'CREATED', { kind: 'time' }),
]

const createBackup = defineCommand({
  path: 'backup create',
  summary: 'Write a consistent copy of the database and the files while the server serves',
  about:
    'Makes a folder with the copy, its SHA-256 and the version that made it. The files that svc made are in it, with a list that sha256sum -c reads; files in a bucket are left there. It has no secrets.json, on purpose: keep that file, which opens the stored secrets, somewhere else. Postgres is copied with pg_dump.',
  examples: ['backup create', 'backup create --out /backups/monday --json'],
  apis: ['operator'],
  offline: true,
  needsData: true,
  impact: 'write',
  danger: 'none',
  exits: [5, 7, 10],
  columns,
  flags: { out: text('FOLDER', 'a folder that does not exist yet; backups/TIME in the data folder by default') },
  async run(shell, { out }) {
    if (shell.planned(`write a backup to ${out ?? 'backups/ in the data folder'}`)) return
    const connection = await shell.connect()
    const body = out === undefined ? {} : { out: fromHere(shell.cwd, out) }
    shell.print.item(expectData(await connection.ops().backups.post(body)), columns)
    shell.note('secrets.json is not part of it; keep a copy of that file elsewhere.')
  },
})

const checkColumns = [
  column('ok', 'WHOLE', { kind: 'flag' }),
  column('manifest.file', 'FILE'),
  column('manifest.files.count', 'FILES', { kind: 'number' }),
  column('manifest.version', 'MADE-BY'),
  column('manifest.created', 'CREATED', { kind: 'time' }),
  column('problems', 'PROBLEMS', { kind: 'list' }),
]

const verifyBackup = defineCommand({
  path: 'backup verify',
  summary: 'Check that a backup is whole, without any server',
  about:
    'Reads all of it and compares the SHA-256 of the database and of each file. A SQLite database is also looked through, and each artifact must have its bytes. Exits 9 when something is wrong.',
  examples: ['backup verify /backups/monday', 'backup verify /backups/monday --json'],
  apis: ['host'],
  offline: true,
  impact: 'read',
  danger: 'none',
  exits: [9],
  columns: checkColumns,
  args: { folder: argument('the folder of the backup') },
  async run(shell, { folder }) {
    const found = await checked(shell, folder)
    shell.print.item(found, checkColumns)
    if (!found.ok) throw new CheckFailed()
  },
})

const restoreBackup = defineCommand({
  path: 'backup restore',
  summary: 'Put a backup into an empty data folder or an empty database',
  about:
    'Checks the backup first, and needs the server stopped. Nothing is overwritten: SVC_DATA_DIR may have no svc.db and no files, and SVC_DATABASE_URL must name an empty database. Put secrets.json (mode 600) there too, then start, and run verify.',
  examples: ['backup restore /backups/monday', 'backup restore /backups/monday --dry-run'],
  apis: ['host'],
  offline: true,
  impact: 'write',
  danger: 'none',
  exits: [5, 9, 10],
  columns: checkColumns,
  args: { folder: argument('the folder of the backup') },
  async run(shell, { folder }) {
    const found = await checked(shell, folder)
    if (!found.manifest || !found.ok) {
      shell.print.item(found, checkColumns)
      throw new CheckFailed()
    }
    if (shell.planned(`restore ${found.manifest.file} of ${found.manifest.created}`)) return
    await restored(shell, fromHere(shell.cwd, folder), found.manifest)
    shell.print.item(found, checkColumns)
    shell.note('Put its secrets.json (mode 600) into the data folder, start the server, and run svc-admin verify.')
  },
})

async function checked(shell: Shell, folder: string) {
  const { checkBackup } = await import('../../src/app/backups')
  return checkBackup(fromHere(shell.cwd, folder))
}

async function restored(shell: Shell, folder: string, manifest: Manifest): Promise<void> {
  const { restore } = await import('../../src/app/backups')
  try {
    await restore(overridesOf(shell), folder, manifest)
  } catch (error) {
    throw new CommandFailed({ exitCode: EXIT.conflict, code: 'conflict', message: (error as Error).message })
  }
}

type Manifest = NonNullable<CheckedBackup['manifest']>

export const backupCommands = [createBackup, verifyBackup, restoreBackup]
