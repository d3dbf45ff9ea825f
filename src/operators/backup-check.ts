import { Database } from 'bun:sqlite'
import { chmod, copyFile, mkdir, readdir, readFile, rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parsedJson } from '../kernel/json'
import { checker, type Static, t } from '../kernel/schema'
import { knownMigrations, schemaOf } from '../kernel/store'
import { FOLDER, LIST, listedIn, sha256Of } from './backup-files'
import { restorePostgres } from './dump'
import { Backup } from './schema-backup'

/** The manifest of a backup and its problems, one sentence each. Empty when the backup is intact. */
export type CheckedBackup = { ok: boolean; manifest: Manifest | null; problems: string[] }

const Manifest = t.Object({
  ...t.Omit(Backup, ['path', 'files', 'encrypted']).properties,
  file: t.Union([t.Literal('svc.db'), t.Literal('svc.dump')]),
  // Absent in older backups.
  files: t.Optional(Backup.properties.files),
  encrypted: t.Optional(Backup.properties.encrypted),
  version: t.String(),
  migrations: t.Optional(t.Integer()),
})
export type Manifest = Static<typeof Manifest>
const known = checker(Manifest)

const MAX_PROBLEMS = 20

/**
 * Checks a whole backup without a server: its manifest, and the hashes of the database and of each file. For SQLite,
 * also whether the database is intact and the bytes of each artifact exist. Never throws for a problem it finds.
 */
export async function checkBackup(folder: string): Promise<CheckedBackup> {
  const manifest = await readManifest(folder)
  if (typeof manifest === 'string') return { ok: false, manifest: null, problems: [manifest] }
  const { file, sha256 } = manifest.encrypted ?? manifest
  const problems: string[] = []
  const database = join(folder, file)
  const found = await sha256Of(database).catch(() => null)
  if (found !== sha256)
    problems.push(
      found === null ? `${file} cannot be read.` : `${file} was changed after it was written: its SHA-256 differs.`,
    )
  // Without an identity, an encrypted backup cannot be checked further.
  if (manifest.encrypted) return { ok: problems.length === 0, manifest, problems }
  const paths = manifest.files ? await checkFiles(folder, manifest.files.sha256, problems) : new Set<string>()
  if (!problems.length && manifest.file === 'svc.db')
    problems.push(...checkDatabase(database, manifest.files ? paths : null))
  return { ok: problems.length === 0, manifest, problems: problems.slice(0, MAX_PROBLEMS) }
}

/** The manifest of a backup, or a sentence that explains why the folder is not a backup. */
export async function readManifest(folder: string): Promise<Manifest | string> {
  try {
    return manifestIn(await readFile(join(folder, 'manifest.json'), 'utf8'))
  } catch {
    return `${folder} has no readable manifest.json, so it is not a backup.`
  }
}

/** Parses a manifest. Returns a sentence if the text is not a manifest. */
export function manifestIn(text: string): Manifest | string {
  const value = parsedJson(text)
  return known.is(value) ? value : 'manifest.json is not from a backup of this release.'
}

/** Adds a sentence for each missing or changed file. Returns the paths of all listed files. */
async function checkFiles(folder: string, listed: string, problems: string[]): Promise<Set<string>> {
  const paths = new Set<string>()
  try {
    if ((await sha256Of(join(folder, LIST))) !== listed) problems.push(`${LIST} was changed after it was written.`)
    for (const { sha256, path } of await listedIn(folder)) {
      paths.add(path)
      const found = await sha256Of(join(folder, FOLDER, path)).catch(() => null)
      if (found !== sha256)
        problems.push(`${FOLDER}/${path} ${found === null ? 'is missing' : 'was changed after it was written'}.`)
    }
  } catch (error) {
    const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT'
    problems.push(isGone ? `${LIST} is missing; it lists the files of this backup.` : (error as Error).message)
  }
  return paths
}

/** `paths` is null for a backup without files, which are then not checked. */
function checkDatabase(path: string, paths: ReadonlySet<string> | null): string[] {
  const database = new Database(path, { readonly: true })
  try {
    const sound = database.query<{ integrity_check: string }, []>('PRAGMA integrity_check(5)').all()
    const broken = sound.map(({ integrity_check }) => integrity_check).filter((word) => word !== 'ok')
    if (broken.length || paths === null) return broken.map((word) => `svc.db is broken: ${word}`)
    const stored = database.query<{ place: string }, []>('SELECT place FROM file_contents').all()
    const without = stored.filter(({ place }) => !paths.has(join(place.slice(0, 2), place)))
    return without.map(({ place }) => `the file ${place} is missing from the backup.`)
  } catch (error) {
    return [`svc.db cannot be read: ${(error as Error).message}`]
  } finally {
    database.close()
  }
}

type Where = { dialect: 'sqlite'; path: string } | { dialect: 'postgres'; url: string }

/** The part of a backup to restore, if not all of it. */
export type RestoredPart = 'tables' | 'files'

type RestorePlace = {
  database: Where
  filesDir: string
  only?: RestoredPart | undefined
  /** Suffix for existing data that is kept beside the restored data. Null: existing data is an error. */
  aside: string | null
}

/**
 * Restores a checked backup to the place where a server expects it. Never overwrites existing data. Throws an error
 * with a sentence when something is in the way, or the backup is of the other kind of database.
 * @returns the paths where existing data is kept
 */
export async function restoreBackup(
  folder: string,
  manifest: Manifest,
  { database, filesDir, only, aside }: RestorePlace,
): Promise<string[]> {
  const [tables, files] = [only !== 'files', only !== 'tables' && manifest.files !== null]
  const isDump = manifest.file === 'svc.dump'
  if (tables && isDump !== (database.dialect === 'postgres'))
    throw new Error(`It is a backup of ${isDump ? 'Postgres' : 'SQLite'}, but this server uses the other one.`)
  if (tables) {
    const problem = tooNew(manifest)
    if (problem) throw new Error(problem)
    if (database.dialect === 'postgres' && (await schemaOf(database)).applied)
      throw new Error(
        'The database is not empty, and nothing is overwritten. Set SVC_DATABASE_URL to an empty database.',
      )
  }
  const stored = await readdir(filesDir).catch(() => [])
  const inTheWay = [
    ...(files && manifest.files?.count && stored.some((name) => /^[0-9a-f]{2}$/.test(name)) ? [filesDir] : []),
    ...(tables && database.dialect === 'sqlite' && (await isThere(database.path)) ? [database.path] : []),
  ]
  if (inTheWay[0] && aside === null)
    throw new Error(
      `${inTheWay[0]} already exists, and nothing is overwritten. Move it away, add --confirm with the name of the data folder, or set SVC_DATA_DIR to an empty folder.`,
    )
  for (const path of inTheWay)
    for (const end of ['', '-wal', '-shm'])
      if (await isThere(`${path}${end}`)) await rename(`${path}${end}`, `${path}${aside}${end}`)
  // First, so that a failure happens before any file is restored.
  if (tables && database.dialect === 'postgres') await restorePostgres(database.url, join(folder, manifest.file))
  if (files && manifest.files) {
    for (const { path } of await listedIn(folder)) await copied(join(folder, FOLDER, path), join(filesDir, path))
  }
  // Last, because the restore is complete once the database exists.
  if (tables && database.dialect === 'sqlite') await copied(join(folder, manifest.file), database.path)
  return inTheWay.map((path) => `${path}${aside}`)
}

/** Why this release cannot serve an intact backup. Null when it can. */
export function tooNew({ migrations = 0, version, file }: Manifest): string | null {
  const known = knownMigrations(file === 'svc.dump' ? 'postgres' : 'sqlite')
  if (migrations <= known) return null
  return `The backup has ${migrations} migrations, but this release has only ${known}. Restore it with the release that made it, ${version}, or a newer one.`
}

async function copied(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  await copyFile(from, to)
  await chmod(to, 0o600)
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
