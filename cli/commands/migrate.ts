import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { copyFile, cp } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { DatabaseLocation } from '../../src/kernel/store'
import { counted } from '../../src/kernel/text'
import { columnsOf, commandsOf } from '../command'
import { CheckFailed, conflictFailure, notFoundFailure, usageFailure } from '../failure'
import { readSecretInput } from '../secret'
import { overridesOf } from '../settings'
import type { Shell } from '../shell'
import { fromHere } from '../transport'
import { flag, needed, text, whole } from '../words'
import { opened } from './backup'

const columns = columnsOf`
  dialect DATABASE, applied APPLIED number, known KNOWN number, pending PENDING list`

const command = commandsOf('migrate', { apis: ['host'], exits: [], columns })

const copiedColumns = columnsOf`table TABLE, rows ROWS number, hash HASH, changed CHANGED number`

const TELL_EACH_MS = 2_000
const migrateCopy = command`copy (writes, exits 1 3 5 7 9): Copy the database from SQLite to Postgres, or back
  Stop the server first. Copies every table into an empty database, compares the rows and hashes, and verifies the audit chain. The source is not changed. Keep the data folder: the new database needs its secrets.json, files and checkpoints too. Servers do not start on an unfinished copy; run the same command to restart it. CHANGED counts rows with characters that Postgres cannot store.
  $ migrate copy --to postgres://svc@db.example/svc
  $ migrate copy --to - --json
  $ migrate copy --to /srv/svc/data
  $ migrate copy --from /backups/monday --to postgres://svc@db.example/svc --json`({
  columns: copiedColumns,
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
    const isUrl = /^postgres(ql)?:\/\//.test(place)
    if (!isUrl && place.includes('://')) throw usageFailure('--to is neither a postgres:// URL nor a data folder.')
    const file = { dialect: 'sqlite', path: join(fromHere(shell.cwd, place), 'svc.db') } as const
    const target: DatabaseLocation = isUrl ? { dialect: 'postgres', url: place } : file
    if (from !== undefined)
      return opened(shell, { folder: from, identity }, async (folder, { ok, manifest, problems }) => {
        for (const problem of problems) shell.io.err(problem)
        if (!ok || !manifest) throw new CheckFailed()
        if (manifest.encrypted) throw usageFailure('The backup is encrypted.', 'add --identity FILE')
        const way = 'svc-admin backup restore FOLDER into an empty database, then copy from there'
        if (manifest.file === 'svc.dump') throw usageFailure('It is a backup of Postgres.', way)
        await copy(shell, { from: { dialect: 'sqlite', path: join(folder, manifest.file) }, dataDir: null }, target)
        if (manifest.files?.count) shell.note('Its files: svc-admin backup restore FOLDER --only files')
      })
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

async function copy(shell: Shell, source: Source, to: DatabaseLocation): Promise<void> {
  const [{ schemaOf }, { copyWhileStopped, targetStateOf }] = await Promise.all([
    import('../../src/kernel/store'),
    import('../../src/app/copy'),
  ])
  const { applied, known, strange, unfinished } = await schemaOf(source.from)
  if (applied !== known || strange || unfinished)
    throw conflictFailure(
      `The source is not at this release: it has ${applied} of ${known} migrations${strange ? ', and others' : ''}${unfinished ? ', and is an unfinished copy' : ''}.`,
      'svc-admin migrate up; for a backup, first svc-admin backup restore FOLDER',
    )
  const state = await targetStateOf(to)
  const isFile = to.dialect === 'sqlite'
  if (state === 'taken')
    throw conflictFailure(
      `The target is not empty${isFile ? `: ${to.path} exists` : ''}. Nothing was changed.`,
      isFile ? 'choose another folder with --to' : 'createdb NAME, then use that database in --to',
    )
  const first = state === 'unfinished' ? 'empty the target, and ' : ''
  if (shell.planned(`${first}copy ${nameOf(source.from)} to ${nameOf(to)}`)) return
  let notice = shell.clock.monotonic()
  const onProgress = (table: string, rows: number, step: string) => {
    if (shell.clock.monotonic() - notice < TELL_EACH_MS) return
    notice = shell.clock.monotonic()
    shell.note(`${table}: ${counted(rows, 'row')} ${step}`)
  }
  const tables = await copyWhileStopped({ ...source, to, onProgress })
  const copied = tables.filter((table) => table.rows)
  shell.print.list(copied, copiedColumns, 'No table has a row.')
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  shell.note(
    `${counted(rows, 'row')} of ${counted(tables.length, 'table')} are the same on both, and the audit chain is valid.`,
  )
  shell.note(
    isFile
      ? `Start the server without SVC_DATABASE_URL on the folder of ${to.path}. Copy secrets.json, audit and files of the old data folder into it first.`
      : 'Keep the data folder, set SVC_DATABASE_URL to the new database, and start the server.',
  )
}

/** Name of a database for messages, without user name and password. */
function nameOf(location: DatabaseLocation): string {
  if (location.dialect === 'sqlite') return location.path
  const { host, pathname } = new URL(location.url)
  return `postgres://${host}${pathname}`
}

const BEFORE = 'before-migrate-'
/** Folder of the checkpoints. Each records the state of the audit record when it was signed. */
const AUDIT = 'audit'

const restored = columnsOf`restored RESTORED, kept WHAT WAS THERE`
const problems = columnsOf`problem PROBLEM`

type State = { applied: number; known: number; dialect: DatabaseLocation['dialect']; pending: string[] }

/** Only reads, so that a backup can still be restored to an empty folder afterwards. */
async function look(shell: Shell) {
  const [{ loadConfig }, { assertOurs, databaseLocationOf }, { schemaOf }] = await Promise.all([
    import('../../src/app/config'),
    import('../../src/app/open'),
    import('../../src/kernel/store'),
  ])
  const { dataDir, ...config } = loadConfig(overridesOf(shell))
  const location = databaseLocationOf({ dataDir, ...config })
  const journal = JSON.parse(readFileSync(join(FOLDER, location.dialect, 'meta/_journal.json'), 'utf8'))
  const tags = (journal.entries as { tag: string }[]).map(({ tag }) => tag)
  const isThere = location.dialect !== 'sqlite' || existsSync(location.path)
  const missing = { applied: 0, known: tags.length, strange: false, unfinished: false }
  const schema = isThere ? await schemaOf(location) : missing
  const { applied, known, strange, unfinished } = schema
  const state: State = { dialect: location.dialect, applied, known, pending: tags.slice(applied) }
  const own = { location, state, dataDir, strange, unfinished }
  return {
    ...own,
    /** @throws ConfigError with the problems that a start would report */
    assertOurs: () => assertOurs(schema, { dataDir, ...config }),
  }
}

const FOLDER = join(import.meta.dir, '../../drizzle')

export const migrateCommands = [
  command`status (exits 1 7 9): Show which migrations the database has
  Reads the configured database, whether or not a server runs. With --check it exits 9 when migrations are missing. Exits 1 when a server of this release would refuse the database.
  $ migrate status
  $ migrate status --check -q`({
    flags: { check: flag('exit 9 when migrations are missing') },
    async run(shell, { check }) {
      const { state, strange, unfinished, assertOurs } = await look(shell)
      if (!shell.globals.quiet) shell.print.item(state, columns)
      if (check && (strange || unfinished || state.applied !== state.known)) throw new CheckFailed()
      assertOurs()
    },
  }),
  command`plan (exits 1 7): Print the SQL that migrate up would run
  Changes nothing. Prints nothing when the database is up to date.
  $ migrate plan
  $ migrate plan > pending.sql`({
    async run(shell) {
      const { location, state, assertOurs } = await look(shell)
      assertOurs()
      for (const tag of state.pending)
        shell.io.raw(
          `-- ${tag}\n${readFileSync(join(FOLDER, location.dialect, `${tag}.sql`), 'utf8').replaceAll('--> statement-breakpoint', '')}\n`,
        )
      if (!state.pending.length) shell.note('The database is up to date.')
    },
  }),
  command`up (exits 1 5 7): Update the database to the schema of this release
  The server does this when it starts, unless --migrate says otherwise. Stop all servers first: the command locks the data folder, and on Postgres it refuses to run while another node does. It first copies a SQLite database with data, so that migrate down can restore it.
  $ migrate up
  $ migrate up --dry-run --exit-code
  $ migrate up --to 3`({
    flags: {
      noBackup: flag('do not copy the database first'),
      to: whole('N', 'apply migrations up to this number; all by default', { min: 1, max: 10_000 }),
    },
    async find(shell, { to }) {
      const { location, state, dataDir, assertOurs } = await look(shell)
      assertOurs()
      const { applied, known, pending } = state
      if (to !== undefined && to > known)
        throw usageFailure(`--to is ${to}; this release has ${known} migrations.`, 'svc-admin migrate status')
      if (to !== undefined && to < applied) {
        const message = `The database has ${applied} migrations, and migrate up cannot remove any.`
        throw conflictFailure(message, 'svc-admin migrate down')
      }
      return { location, state, dataDir, wanted: pending.slice(0, (to ?? known) - applied) }
    },
    action: ({ wanted }) => (wanted.length ? `apply ${wanted.join(', ')}` : undefined),
    async run(shell, { noBackup, to, location, state, dataDir, wanted }) {
      if (!wanted.length) {
        shell.print.item(state, columns)
        return shell.note(
          to === undefined ? 'The database is up to date.' : 'The database already has these migrations.',
        )
      }
      const { claimDatabase } = await import('../../src/app/open')
      mkdirSync(dataDir, { recursive: true, mode: 0o700 })
      claimDatabase(location)
      const copy = state.applied && !noBackup ? await copyBefore(location, dataDir, shell.clock.now()) : null
      await bringUp(location, dataDir, to)
      shell.print.item((await look(shell)).state, columns)
      if (copy) shell.note(`A copy of the previous database is at ${copy} (undo: svc-admin migrate down)`)
    },
  }),
  command`down (severe, exits 1 3 5 7): Restore the SQLite database that migrate up copied
  Changes since then are not in the copy. The current database and checkpoints are saved next to it. Stop all servers first, and install the older release to use the copy. On Postgres, restore your own dump with backup restore.
  $ migrate down --dry-run
  $ migrate down --confirm data`({
    columns: restored,
    async find(shell) {
      const { location, dataDir } = await look(shell)
      if (location.dialect !== 'sqlite')
        throw conflictFailure(
          'migrate down works only with SQLite; this server uses Postgres.',
          'svc-admin backup restore FOLDER, into an empty database',
        )
      const folder = join(dataDir, 'backups')
      const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith(BEFORE)) : []
      const copies = names.sort().map((name) => join(folder, name, 'svc.db'))
      const copy = copies.findLast(existsSync)
      if (copy !== undefined) return { path: location.path, dataDir, copy }
      throw notFoundFailure('This data folder has no copy from migrate up.', 'svc-admin backup restore FOLDER')
    },
    action: ({ path, copy }) => `replace ${path} with ${copy}`,
    named: ({ dataDir }) => basename(dataDir),
    answer: async ({ shell }, { path, copy, dataDir }) => ({
      restored: copy,
      kept: await putBack(path, copy, dataDir, shell.clock.now()),
    }),
  }),
  command`verify (exits 7 9): Compare the tables of the database with those of this release
  Compares the names of tables and columns, whether or not a server runs. Exits 9 when something is missing.
  $ migrate verify`({
    columns: problems,
    async answer({ shell }) {
      const { location, state, strange, unfinished } = await look(shell)
      const { lackingIn } = await import('../../src/kernel/store')
      const found = [
        ...(unfinished ? ['A copy into the database did not finish. Run svc-admin migrate copy again.'] : []),
        ...(strange ? ['Another development version created the database.'] : []),
        ...(state.applied > state.known ? ['A newer release created the database.'] : []),
        ...state.pending.map((tag) => `The migration ${tag} is missing: svc-admin migrate up.`),
        ...(state.pending.length ? [] : await lackingIn(location)),
      ]
      return found.map((problem) => ({ problem }))
    },
    empty: 'The database has every table and column of this release.',
    ok: (found) => !found.length,
  }),
  migrateCopy,
]

/** Runs `work` on a database while no server uses its data folder. @throws ConfigError */
async function alone<T>(dataDir: string, work: (home: string) => Promise<T>): Promise<T> {
  const lock = (await import('../../src/app/lock')).lockDataDir(dataDir)
  try {
    return await work(lock.home)
  } finally {
    lock.release()
  }
}

/**
 * Migrates a database to the schema of this release, or to its first `to` migrations. No server may use its data
 * folder, and no node the database. @throws ConfigError
 */
export async function bringUp(location: DatabaseLocation, dataDir: string, to?: number): Promise<void> {
  const [{ inTurn, migrate }, { assertAlone }] = await Promise.all([
    import('../../src/kernel/store'),
    import('../../src/app/reset'),
  ])
  await alone(dataDir, (home) =>
    // No node can start between the check and the migration.
    inTurn(location, async () => {
      await assertAlone(location, home)
      await migrate(location, to)
    }),
  )
}

/**
 * Copies a SQLite file that has data, and its checkpoints, so that a migration can be undone. @returns the path of the
 * copy, or null
 */
export async function copyBefore(location: DatabaseLocation, dataDir: string, now: number): Promise<string | null> {
  if (location.dialect !== 'sqlite') return null
  const { openSqlite } = await import('../../src/kernel/store')
  const folder = join(dataDir, 'backups', `${BEFORE}${new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const copy = join(folder, 'svc.db')
  await alone(dataDir, async () => {
    const onDiskFailure = (error: Error) => {
      throw error
    }
    const store = openSqlite({ path: location.path, onDiskFailure })
    try {
      await store.backup(copy)
    } finally {
      await store.close()
    }
    const audit = join(dataDir, AUDIT)
    if (existsSync(audit)) await cp(audit, join(folder, AUDIT), { recursive: true })
  })
  return copy
}

/**
 * Replaces the database by a copy and keeps the old file beside it. Also moves newer checkpoints aside, because they
 * sign events that the copy does not have.
 * @returns the path of the old file
 */
export async function putBack(path: string, copy: string, dataDir: string, now: number): Promise<string> {
  const stored = `${path}.was-${now}`
  await alone(dataDir, async () => {
    for (const end of ['', '-wal', '-shm'])
      if (existsSync(`${path}${end}`)) renameSync(`${path}${end}`, `${stored}${end}`)
    await copyFile(copy, path)
    const [audit, copied] = [join(dataDir, AUDIT), join(dirname(copy), AUDIT)]
    if (existsSync(audit)) renameSync(audit, `${audit}.was-${now}`)
    if (existsSync(copied)) await cp(copied, audit, { recursive: true })
  })
  return stored
}
