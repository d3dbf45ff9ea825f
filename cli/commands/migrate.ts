import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { DatabaseLocation } from '../../src/kernel/store'
import { defineCommand } from '../command'
import { EXIT } from '../exit'
import { CheckFailed, CommandFailed, notFoundFailure, usageFailure } from '../failure'
import { bringUp, copyBefore, newestCopy, putBack } from '../migrating'
import { column } from '../output/columns'
import { overridesOf } from '../overrides'
import type { Shell } from '../shell'
import { flag, whole } from '../words'
import { migrateCopy } from './migrate-copy'

const columns = [
  column('dialect', 'DATABASE'),
  column('applied', 'APPLIED', { kind: 'number' }),
  column('known', 'KNOWN', { kind: 'number' }),
  column('pending', 'PENDING', { kind: 'list' }),
]

const common = { apis: ['host'], columns } as const

const migrateStatus = defineCommand({
  ...common,
  path: 'migrate status',
  summary: 'Show which migrations the database has',
  about:
    'Reads the database that the configuration names, whether or not a server runs. With --check it exits 9 when some are missing. Exits 1 when a server of this release would refuse the database.',
  examples: ['migrate status', 'migrate status --check -q'],
  impact: 'read',
  exits: [1, 7, 9],
  flags: { check: flag('exit 9 when the database is not at this release') },
  async run(shell, { check }) {
    const { state, strange, unfinished, assertOurs } = await look(shell)
    if (!shell.globals.quiet) shell.print.item(state, columns)
    if (check && (strange || unfinished || state.applied !== state.known)) throw new CheckFailed()
    assertOurs()
  },
})

const migratePlan = defineCommand({
  ...common,
  path: 'migrate plan',
  summary: 'Print the SQL that migrate up would run',
  about: 'Nothing is changed. Prints nothing when the database is at this release.',
  examples: ['migrate plan', 'migrate plan > pending.sql'],
  impact: 'read',
  exits: [1, 7],
  async run(shell) {
    const { location, state, assertOurs } = await look(shell)
    assertOurs()
    for (const tag of state.pending) shell.io.raw(`-- ${tag}\n${sqlOf(location, tag)}\n`)
    if (!state.pending.length) shell.note('The database is at this release.')
  },
})

const migrateUp = defineCommand({
  ...common,
  path: 'migrate up',
  summary: 'Bring the database to the schema of this release',
  about:
    'The server does this at its start, unless --migrate says otherwise. No server may run meanwhile: the data folder is locked first, and on Postgres no other node may serve. A SQLite database with data is copied before, so that migrate down can put it back.',
  examples: ['migrate up', 'migrate up --dry-run --exit-code', 'migrate up --to 3'],
  impact: 'write',
  exits: [1, 5, 7],
  flags: {
    noBackup: flag('make no copy first'),
    to: whole('N', 'how many migrations it shall have had, all by default', { min: 1, max: 10_000 }),
  },
  async run(shell, { noBackup, to }) {
    const { location, state, dataDir, assertOurs } = await look(shell)
    assertOurs()
    const { claimDatabase } = await import('../../src/app/open')
    if (to !== undefined) assertAhead(to, state)
    const wanted = state.pending.slice(0, (to ?? state.known) - state.applied)
    if (!wanted.length) {
      shell.print.item(state, columns)
      shell.note(to === undefined ? 'The database is at this release.' : 'The database has had them already.')
      return
    }
    if (shell.planned(`apply ${wanted.join(', ')}`)) return
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    claimDatabase(location)
    const copy = state.applied && !noBackup ? await copyBefore(location, dataDir, shell.clock.now()) : null
    await bringUp(location, dataDir, to)
    shell.print.item((await look(shell)).state, columns)
    if (copy) shell.note(`The database as it was is at ${copy} (undo: svc-admin migrate down)`)
  },
})

/** @throws CommandFailed 2 for more than this release has, 5 for fewer than were applied */
function assertAhead(to: number, { applied, known }: State): void {
  if (to > known) throw usageFailure(`--to is ${to}; this release has ${known} migrations.`, 'svc-admin migrate status')
  if (to >= applied) return
  throw new CommandFailed({
    exitCode: EXIT.conflict,
    code: 'conflict',
    message: `The database has had ${applied} migrations, and migrate up takes none back.`,
    fix: 'svc-admin migrate down',
  })
}

const restored = [column('restored', 'RESTORED'), column('kept', 'WHAT WAS THERE')]

const migrateDown = defineCommand({
  ...common,
  columns: restored,
  path: 'migrate down',
  summary: 'Restore the SQLite database that migrate up copied',
  about:
    'What was written since then is not in it; the database and the checkpoints that are there now are kept beside it. No server may run, and the older release must be installed to use it. On Postgres restore the dump that you made before: backup restore.',
  examples: ['migrate down --dry-run', 'migrate down --confirm data'],
  impact: 'write',
  danger: 'severe',
  exits: [1, 3, 5, 7],
  async run(shell) {
    const { location, dataDir } = await look(shell)
    if (location.dialect !== 'sqlite') throw notOnPostgres()
    const copy = newestCopy(dataDir)
    if (copy === null)
      throw notFoundFailure('migrate up has made no copy in this data folder.', 'svc-admin backup restore FOLDER')
    if (shell.planned(`put ${copy} in the place of ${location.path}`)) return
    shell.confirmName(`Put ${copy} in the place of ${location.path}?`, basename(dataDir))
    const kept = await putBack(location.path, copy, dataDir, shell.clock.now())
    shell.print.item({ restored: copy, kept }, restored)
  },
})

const notOnPostgres = (): CommandFailed =>
  new CommandFailed({
    exitCode: EXIT.conflict,
    code: 'conflict',
    message: 'migrate down works on SQLite files; this server has Postgres.',
    fix: 'svc-admin backup restore FOLDER, into an empty database',
  })

const problems = [column('problem', 'PROBLEM')]

const migrateVerify = defineCommand({
  ...common,
  columns: problems,
  path: 'migrate verify',
  summary: 'Compare the tables of the database with those of this release',
  about: 'Reads the names of tables and columns, whether or not a server runs. Exits 9 when something is missing.',
  examples: ['migrate verify', 'migrate verify --json'],
  impact: 'read',
  exits: [7, 9],
  async run(shell) {
    const { location, state, strange, unfinished } = await look(shell)
    const { lackingIn } = await import('../../src/kernel/store')
    const found = [
      ...(unfinished ? ['A copy into the database did not finish: svc-admin migrate copy.'] : []),
      ...(strange ? ['Another development version made the database.'] : []),
      ...(state.applied > state.known ? ['A newer release made the database.'] : []),
      ...state.pending.map((tag) => `The migration ${tag} is missing: svc-admin migrate up.`),
      ...(state.pending.length ? [] : await lackingIn(location)),
    ]
    const rows = found.map((problem) => ({ problem }))
    shell.print.list(rows, problems, 'Every table and column of this release is there.')
    if (rows.length) throw new CheckFailed()
  },
})

type State = { applied: number; known: number; dialect: DatabaseLocation['dialect']; pending: string[] }

/** Reads only: whoever looks into an empty folder may still restore a backup there. */
async function look(shell: Shell) {
  const [{ loadConfig }, { assertOurs, databaseLocationOf }, { schemaOf }] = await Promise.all([
    import('../../src/app/config'),
    import('../../src/app/open'),
    import('../../src/kernel/store'),
  ])
  const { dataDir, ...config } = loadConfig(overridesOf(shell))
  const location = databaseLocationOf({ dataDir, ...config })
  const tags = tagsOf(location)
  const isThere = location.dialect !== 'sqlite' || existsSync(location.path)
  const missing = { applied: 0, known: tags.length, strange: false, unfinished: false }
  const schema = isThere ? await schemaOf(location) : missing
  const { applied, known, strange, unfinished } = schema
  const state: State = { dialect: location.dialect, applied, known, pending: tags.slice(applied) }
  return {
    location,
    state,
    dataDir,
    strange,
    unfinished,
    /** @throws ConfigError with what a start would say */
    assertOurs: () => assertOurs(schema, { dataDir, ...config }),
  }
}

const FOLDER = join(import.meta.dir, '../../drizzle')

function tagsOf({ dialect }: DatabaseLocation): string[] {
  const journal = JSON.parse(readFileSync(join(FOLDER, dialect, 'meta/_journal.json'), 'utf8'))
  return (journal.entries as { tag: string }[]).map(({ tag }) => tag)
}

const sqlOf = ({ dialect }: DatabaseLocation, tag: string): string =>
  readFileSync(join(FOLDER, dialect, `${tag}.sql`), 'utf8').replaceAll('--> statement-breakpoint', '')

export const migrateCommands = [migrateStatus, migratePlan, migrateUp, migrateDown, migrateVerify, migrateCopy]
