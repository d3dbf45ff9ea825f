import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseLocation, Schema } from '../../src/kernel/store'
import { commandsOf } from '../command'
import { CheckFailed, conflictFailure, notFoundFailure, usageFailure } from '../failure'
import { columnsOf } from '../output/columns'
import { readSecretInput } from '../secret'
import { overridesOf } from '../settings'
import type { Shell } from '../shell'
import { fromHere } from '../transport'
import { needed, text } from '../words'
import { identitiesOf } from './backup'

const command = commandsOf('migrate', { apis: ['host'], exits: [] })

const columns = columnsOf`table TABLE, rows ROWS number, hash HASH, changed CHANGED number`

const TELL_EACH_MS = 2_000

export const migrateCopy = command`copy: Copy the database from SQLite to Postgres, or back
  Stop the server first. Copies every table into an empty database, compares the rows and hashes, and verifies the audit chain. The source is not changed. Keep the data folder: the new database needs its secrets.json, files and checkpoints too. Servers do not start on an unfinished copy; run the same command to restart it. CHANGED counts rows with characters that Postgres cannot store.
  $ migrate copy --to postgres://svc@db.example/svc
  $ migrate copy --to - --json
  $ migrate copy --to /srv/svc/data
  $ migrate copy --from /backups/monday --to postgres://svc@db.example/svc --json`({
  impact: 'write',
  exits: [1, 3, 5, 7, 9],
  columns,
  flags: {
    to: needed(
      text(
        'URL',
        'target: a postgres:// URL, or a data folder for SQLite; - reads the URL from stdin, with its password',
      ),
      'add --to URL',
    ),
    from: text('FOLDER', 'a SQLite backup to copy from, or s3://bucket/folder; the configured database by default'),
    identity: text('FILE', 'the age identity that opens an encrypted backup; - reads stdin'),
  },
  async run(shell, { to, from, identity }) {
    const place =
      to === '-' ? await readSecretInput(shell, { label: 'URL', fromFile: '-', instead: 'add --to URL' }) : to
    const target = locationOf(shell, place)
    if (from !== undefined) return fromBackup(shell, { from, identity }, target)
    const [{ loadConfig }, { databaseLocationOf }] = await Promise.all([
      import('../../src/app/config'),
      import('../../src/app/open'),
    ])
    const config = loadConfig(overridesOf(shell))
    const source = databaseLocationOf(config)
    if (source.dialect === 'sqlite' && !existsSync(source.path))
      throw notFoundFailure(`There is no database at ${source.path}.`, 'svc-admin migrate copy --data-dir DIR --to URL')
    await copy(shell, { from: source, dataDir: config.dataDir }, target)
  },
})

type Source = { from: DatabaseLocation; dataDir: string | null }

function locationOf({ cwd }: Shell, to: string): DatabaseLocation {
  if (/^postgres(ql)?:\/\//.test(to)) return { dialect: 'postgres', url: to }
  if (to.includes('://')) throw usageFailure('--to is neither a postgres:// URL nor a data folder.')
  return { dialect: 'sqlite', path: join(fromHere(cwd, to), 'svc.db') }
}

async function fromBackup(
  shell: Shell,
  { from, identity }: { from: string; identity: string | undefined },
  target: DatabaseLocation,
): Promise<void> {
  const { checked } = await import('../../src/app/backups')
  const identities = identity === undefined ? null : await identitiesOf(shell, identity)
  const place = from.startsWith('s3://') ? from : fromHere(shell.cwd, from)
  await checked(overridesOf(shell), { place, identities }, async (folder, { ok, manifest, problems }) => {
    for (const problem of problems) shell.io.err(problem)
    if (!ok || !manifest) throw new CheckFailed()
    if (manifest.encrypted) throw usageFailure('The backup is encrypted.', 'add --identity FILE')
    if (manifest.file === 'svc.dump')
      throw usageFailure(
        'It is a backup of Postgres.',
        'svc-admin backup restore FOLDER into an empty database, then copy from there',
      )
    await copy(shell, { from: { dialect: 'sqlite', path: join(folder, manifest.file) }, dataDir: null }, target)
    if (manifest.files?.count) shell.note('Its files: svc-admin backup restore FOLDER --only files')
  })
}

async function copy(shell: Shell, source: Source, to: DatabaseLocation): Promise<void> {
  const [{ schemaOf }, { copyWhileStopped, targetStateOf }] = await Promise.all([
    import('../../src/kernel/store'),
    import('../../src/app/copy'),
  ])
  assertReady(await schemaOf(source.from))
  const state = await targetStateOf(to)
  if (state === 'taken')
    throw conflictFailure(
      `The target is not empty${to.dialect === 'sqlite' ? `: ${to.path} exists` : ''}. Nothing was changed.`,
      to.dialect === 'sqlite' ? 'choose another folder with --to' : 'createdb NAME, then use that database in --to',
    )
  if (
    shell.planned(
      `${state === 'unfinished' ? 'empty the target, and ' : ''}copy ${nameOf(source.from)} to ${nameOf(to)}`,
    )
  )
    return
  let notice = shell.clock.monotonic()
  const onProgress = (table: string, rows: number, step: string) => {
    if (shell.clock.monotonic() - notice < TELL_EACH_MS) return
    notice = shell.clock.monotonic()
    shell.note(`${table}: ${rows} rows ${step}`)
  }
  const tables = await copyWhileStopped({ ...source, to, onProgress })
  shell.print.list(
    tables.filter((table) => table.rows),
    columns,
    'No table has a row.',
  )
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  shell.note(`${rows} rows of ${tables.length} tables are the same on both, and the audit chain is valid.`)
  shell.note(
    to.dialect === 'postgres'
      ? 'Keep the data folder, set SVC_DATABASE_URL to the new database, and start the server.'
      : `Start the server without SVC_DATABASE_URL on the folder of ${to.path}. Copy secrets.json, audit and files of the old data folder into it first.`,
  )
}

/** @throws CommandFailed 5 for a source that is incomplete, or of another release */
function assertReady({ applied, known, strange, unfinished }: Schema): void {
  if (applied === known && !strange && !unfinished) return
  throw conflictFailure(
    `The source is not at this release: it has ${applied} of ${known} migrations${strange ? ', and others' : ''}${unfinished ? ', and is an unfinished copy' : ''}.`,
    'svc-admin migrate up; for a backup, first svc-admin backup restore FOLDER',
  )
}

/** Name of a database for messages, without user name and password. */
function nameOf(location: DatabaseLocation): string {
  if (location.dialect === 'sqlite') return location.path
  const { host, pathname } = new URL(location.url)
  return `postgres://${host}${pathname}`
}
