import { defineCommand } from '../command'
import { expectData } from '../failure'
import { column } from '../output/columns'
import { fromHere } from '../transport'
import { text } from '../words'

const columns = [
  column('path', 'FOLDER'),
  column('file', 'FILE'),
  column('bytes', 'BYTES', { kind: 'number' }),
  column('sha256', 'SHA-256'),
  column('created', 'CREATED', { kind: 'time' }),
]

export const createBackup = defineCommand({
  path: 'backup create',
  summary: 'Write a consistent copy of the database while the server serves',
  about:
    'Makes a folder with the copy, its SHA-256 and the version that made it. The copy has no secrets.json, on purpose: keep that file, which opens the stored secrets, somewhere else. Postgres is copied with pg_dump.',
  examples: ['backup create', 'backup create --out /backups/monday --json'],
  apis: ['operator'],
  offline: true,
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
