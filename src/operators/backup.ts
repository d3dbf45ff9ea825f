import { chmod, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import type { AuditLog } from '../audit'
import type { Call, OperatorCaller } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { defineError, invalidInput } from '../kernel/errors'
import type { Store } from '../kernel/store'
import { type Bucket, isInBucket } from './backup-bucket'
import { type Contents, copyFiles, sha256Of } from './backup-files'
import { BACKUP } from './backups'
import type { Backup, NewBackup } from './schema'

type Deps = {
  store: Store
  audit: AuditLog
  clock: Clock
  /** Backups without an `out` path go to `<dataDir>/backups`. */
  dataDir: string
  version: string
  /** The backup at `s3://bucket/folder`. Throws 400. */
  bucketAt(path: string): Bucket
  /** Dumps Postgres with its own tool; SQLite is copied by the store. */
  dumpPostgres(target: string): Promise<void>
  /** Files that svc made; null where they are in a bucket, which has copies of its own. */
  contents: Contents | null
}

const backupExists = defineError(
  'conflict',
  'conflict',
  (path: string) => `${path} already exists. Name a folder that does not exist yet.`,
)

/** Writes a consistent copy of the database, the files that svc made and a manifest with their hashes, while the server keeps serving (I44). */
export function createBackup({ store, audit, clock, dataDir, version, bucketAt, dumpPostgres, contents }: Deps) {
  return async function backup(call: Call<OperatorCaller>, { out, files = true }: NewBackup): Promise<Backup> {
    const bucket = out !== undefined && isInBucket(out) ? bucketAt(out) : null
    if (out !== undefined && !bucket && !isAbsolute(out)) throw invalidInput('out', '"out" must be an absolute path.')
    const created = iso(clock.now())
    const name = created.replace(/[-:]|\.\d+/g, '')
    // One for a bucket is finished here, and sent whole.
    const folder = bucket ? join(dataDir, 'outgoing', name) : resolve(out ?? join(dataDir, 'backups', name))
    if (bucket ? await bucket.exists() : await exists(folder)) throw backupExists(out ?? folder)
    const file = store.dialect === 'sqlite' ? 'svc.db' : 'svc.dump'
    // Written under another name until complete, so that an interrupted copy is never mistaken for a backup.
    const partial = `${folder}.partial`
    await rm(partial, { recursive: true, force: true })
    await mkdir(partial, { recursive: true, mode: 0o700 })
    const target = join(partial, file)
    const copied = contents && files ? copyFiles(contents, partial) : null
    // Before the database too, because a file may be removed while that is copied.
    await copied?.copy()
    await (store.dialect === 'sqlite' ? store.backup(target) : dumpPostgres(target))
    // A copy of what only its owner may read; also when it is moved out of this folder.
    await chmod(target, 0o600)
    await copied?.copy()
    const { size } = await stat(target)
    const made: Backup = {
      ...{ object: 'backup', path: bucket ? out! : folder, file, bytes: size, sha256: await sha256Of(target) },
      files: copied ? await copied.list() : null,
      created,
    }
    await writeFile(
      join(partial, 'manifest.json'),
      `${JSON.stringify({ ...made, path: undefined, version }, null, 2)}\n`,
      { mode: 0o600 },
    )
    if (bucket) {
      try {
        await bucket.put(partial, file, made.files !== null)
      } finally {
        await rm(partial, { recursive: true, force: true })
      }
    } else await rename(partial, folder)
    await store.write((tx) =>
      audit.record(tx, call, {
        action: 'operator.backup_created',
        entityType: 'settings',
        entityId: BACKUP,
        input: { metadata: { path: made.path, bytes: size, sha256: made.sha256 } },
      }),
    )
    return made
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
