import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { AuditLog } from '../audit'
import type { Call, OperatorCaller } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import type { Store } from '../kernel/store'
import { type Bucket, isInBucket } from './backup-bucket'
import { type KnownBackup, type Manifest, manifestIn, readManifest } from './backup-check'
import type { BackupPruning, PrunedBackups } from './schema'

/** What a backup is about on the record, by which those that were made are found. */
export const BACKUP = 'backup'

type Deps = {
  store: Store
  audit: AuditLog
  clock: Clock
  dataDir: string
  /** The backup at `s3://bucket/folder`. Throws 400. */
  bucketAt(path: string): Bucket
}

/** Backups looked for on the record: more than a daily one makes in half a year. */
const MOST = 200

/**
 * The backups that were made and are still on this machine, wherever they were written to, newest first; and what goes
 * when the old ones are removed (dx 2.8). A copy that was moved away is not among them.
 */
export function createBackups({ store, audit, clock, dataDir, bucketAt }: Deps) {
  return { list, prune }

  async function list(_call: Call<OperatorCaller>): Promise<KnownBackup[]> {
    const folders = new Set([...(await inDataFolder()), ...(await onRecord())])
    const found: KnownBackup[] = []
    for (const path of folders) {
      const manifest = await (isInBucket(path) ? manifestThere(path) : readManifest(path))
      if (typeof manifest !== 'string') found.push({ ...manifest, files: manifest.files ?? null, path })
    }
    return found.sort((a, b) => (a.created < b.created ? 1 : -1))
  }

  /** Removes those older than `older_than_ms`; the newest stays, whatever its age. */
  async function prune(call: Call<OperatorCaller>, { older_than_ms, dry_run }: BackupPruning): Promise<PrunedBackups> {
    const all = await list(call)
    const before = iso(clock.now() - older_than_ms)
    const old = all.slice(1).filter(({ created }) => created < before)
    const bytes = old.reduce((sum, one) => sum + one.bytes + (one.files?.bytes ?? 0), 0)
    if (!dry_run && old.length) {
      for (const { path } of old) await (isInBucket(path) ? bucketAt(path).remove() : rm(path, { recursive: true }))
      const metadata = { paths: old.map(({ path }) => path), bytes }
      const about = { entityType: 'settings', entityId: BACKUP } as const
      await store.write((tx) =>
        audit.record(tx, call, { action: 'operator.backups_pruned', ...about, input: { metadata } }),
      )
    }
    return { object: 'pruned_backups', removed: old, kept: all.length - old.length, bytes }
  }

  /** A bucket that does not answer has no backup that anybody could use now. */
  async function manifestThere(path: string): Promise<Manifest | string> {
    try {
      return manifestIn(await bucketAt(path).manifest())
    } catch (error) {
      return (error as Error).message
    }
  }

  async function inDataFolder(): Promise<string[]> {
    const folder = join(dataDir, 'backups')
    return (await readdir(folder).catch(() => [])).map((name) => join(folder, name))
  }

  async function onRecord(): Promise<string[]> {
    const made = { action: 'operator.backup_created', entity_type: 'settings', entity_id: BACKUP, limit: MOST }
    const { items } = await audit.list(store.read, 'server', made)
    return items.flatMap(({ inputSummary }) => {
      const { path } = (inputSummary.metadata ?? {}) as { path?: unknown }
      return typeof path === 'string' ? [path] : []
    })
  }
}
