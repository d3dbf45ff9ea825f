import { chmod, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import type { AuditLog } from '../audit'
import type { Call, OperatorCaller } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { randomBase62 } from '../kernel/crypto'
import { defineError, invalidInput } from '../kernel/errors'
import type { Store } from '../kernel/store'
import { type Bucket, isInBucket } from './backup-bucket'
import { type Contents, copyFiles, sha256Of } from './backup-files'
import { assertRecipients, seal } from './backup-seal'
import { BACKUP } from './backups'
import type { Backup, NewBackup } from './schema-backup'

type Deps = {
  store: Store
  audit: AuditLog
  clock: Clock
  /** Backups without an `out` path go to `<dataDir>/backups`. */
  dataDir: string
  version: string
  /** The number of migrations applied to the database. */
  migrations(): Promise<number>
  /** The backup at `s3://bucket/folder`. Throws 400. */
  bucketAt(path: string): Bucket
  /** Dumps Postgres with `pg_dump`. The store itself copies SQLite. */
  dumpPostgres(target: string): Promise<void>
  /** The stored files. Null when they are in a bucket, because buckets have their own copies. */
  contents: Contents | null
}

const backupExists = defineError(
  'conflict',
  (path: string) => `${path} already exists. Name a folder that does not exist yet.`,
)

/** Suffix of an incomplete backup, so that an interrupted one is never mistaken for a backup. */
const PARTIAL = '.partial'
/** Folder in the data folder for backups that are finished before they are encrypted or uploaded. */
const OUTGOING = 'outgoing'
/** The errors of a folder that this process cannot write to. */
const UNFIT = /^(EROFS|EACCES|EPERM|ENOTDIR|EEXIST)$/

/**
 * Writes a consistent copy of the database, the stored files and a manifest with their hashes, while the server keeps
 * serving (docs/promises.md I44).
 */
export function createBackup(deps: Deps) {
  const { store, audit, clock, dataDir, version, migrations, bucketAt, dumpPostgres, contents } = deps
  const writing = new Set<string>()

  return async function backup(call: Call<OperatorCaller>, { out, files = true, encrypt_to }: NewBackup) {
    const bucket = out !== undefined && isInBucket(out) ? bucketAt(out) : null
    if (out !== undefined && !bucket && !isAbsolute(out)) throw invalidInput('out', '"out" must be an absolute path.')
    if (encrypt_to) await assertRecipients(encrypt_to)
    const created = iso(clock.now())
    const name = created.replace(/[-:]|\.\d+/g, '')
    const outgoing = join(dataDir, OUTGOING, `${name}-${randomBase62(6)}`)
    const place = bucket ? out! : resolve(out ?? join(dataDir, 'backups', name))
    if (
      writing.has(place) ||
      (bucket
        ? await bucket.exists()
        : await stat(place).then(
            () => true,
            () => false,
          ))
    )
      throw backupExists(place)
    writing.add(place)
    // `plain` is the folder of the copies, `whole` the folder of the complete backup. A backup that is to be encrypted
    // or uploaded uses a private folder.
    const whole = `${bucket ? outgoing : place}${PARTIAL}`
    const plain = encrypt_to ? `${outgoing}.plain${PARTIAL}` : whole
    if (out !== undefined && !bucket)
      await empty(whole).catch((error) => {
        writing.delete(place)
        throw UNFIT.test(error.code) ? invalidInput('out', `"out" cannot be written to (${error.code}).`) : error
      })
    try {
      const copied = await copyInto(plain, files)
      const made: Backup = { object: 'backup', path: place, ...copied, encrypted: null, created }
      await describe(plain, made)
      if (encrypt_to) {
        await empty(whole)
        made.encrypted = await seal(plain, whole, encrypt_to)
        await describe(whole, made)
      }
      await (bucket ? bucket.put(whole, made) : rename(whole, place))
      await store.write((tx) =>
        audit.record(tx, call, {
          action: 'operator.backup_created',
          entityType: 'settings',
          entityId: BACKUP,
          input: { metadata: { path: place, bytes: made.bytes, sha256: made.sha256 } },
        }),
      )
      return made
    } finally {
      writing.delete(place)
      for (const folder of [plain, whole]) await rm(folder, { recursive: true, force: true })
    }
  }

  /** Copies the database and the files into a new folder. */
  async function copyInto(
    folder: string,
    files: boolean,
  ): Promise<Pick<Backup, 'file' | 'bytes' | 'sha256' | 'files'>> {
    const file = store.dialect === 'sqlite' ? 'svc.db' : 'svc.dump'
    await empty(folder)
    const target = join(folder, file)
    const copied = contents && files ? copyFiles(contents, folder) : null
    // Also before the database, because a file may be removed while the database is copied.
    await copied?.copy()
    await (store.dialect === 'sqlite' ? store.backup(target) : dumpPostgres(target))
    // The copy contains private data, so only its owner may read it, even when it is moved out of this folder.
    await chmod(target, 0o600)
    await copied?.copy()
    const { size } = await stat(target)
    return { file, bytes: size, sha256: await sha256Of(target), files: copied ? await copied.list() : null }
  }

  async function describe(folder: string, made: Backup): Promise<void> {
    const text = JSON.stringify({ ...made, path: undefined, version, migrations: await migrations() }, null, 2)
    await writeFile(join(folder, 'manifest.json'), `${text}\n`, { mode: 0o600 })
  }
}

/** Removes leftovers of killed backups from the data folder. The process that owns it calls this before a backup. */
export async function sweepUnfinished(dataDir: string): Promise<void> {
  await rm(join(dataDir, OUTGOING), { recursive: true, force: true })
  const backups = join(dataDir, 'backups')
  for (const name of await readdir(backups).catch(() => []))
    if (name.endsWith(PARTIAL)) await rm(join(backups, name), { recursive: true, force: true })
}

async function empty(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
}
