import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { AuditLog } from '../audit'
import type { Call, OperatorCaller } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import type { Store } from '../kernel/store'
import { type Bucket, isInBucket } from './backup-bucket'
import { type Manifest, manifestIn, readManifest } from './backup-check'
import type { BackupList, BackupPruning, PrunedBackups } from './schema-backup'

/** Entity id of backups in the audit log, used to find the existing ones. */
export const BACKUP = 'backup'

type Deps = {
  store: Store
  audit: AuditLog
  clock: Clock
  dataDir: string
  /** The backup at `s3://bucket/folder`. Throws 400. */
  bucketAt(path: string): Bucket
}

/** Maximum number of backup audit entries read. More than daily backups create in half a year. */
const MAX = 200

/**
 * Lists the existing backups on this machine and in buckets, newest first, and prunes old ones (docs/operating.md 2.8).
 * A copy that was moved away is not listed.
 */
export function createBackups({ store, audit, clock, dataDir, bucketAt }: Deps) {
  return { list, prune }

  async function list(_call: Call<OperatorCaller>): Promise<BackupList> {
    const folder = join(dataDir, 'backups')
    const folders = new Set([
      ...(await readdir(folder).catch(() => [])).map((name) => join(folder, name)),
      ...(await onRecord()),
    ])
    const backups: BackupList['backups'] = []
    const unreachable: BackupList['unreachable'] = []
    for (const path of folders) {
      try {
        const manifest = await (isInBucket(path) ? manifestThere(path) : readManifest(path))
        if (typeof manifest === 'string') continue
        const { files = null, encrypted = null, migrations: _, ...rest } = manifest
        backups.push({ ...rest, files, encrypted, path })
      } catch (error) {
        unreachable.push({ path, why: (error as Error).message })
      }
    }
    return { backups: backups.sort((a, b) => (a.created < b.created ? 1 : -1)), unreachable }
  }

  /** Removes backups older than `older_than_ms`, but never the newest one. */
  async function prune(call: Call<OperatorCaller>, { older_than_ms, dry_run }: BackupPruning): Promise<PrunedBackups> {
    const { backups: all, unreachable } = await list(call)
    const before = iso(clock.now() - older_than_ms)
    const old = all.slice(1).filter(({ created }) => created < before)
    const bytes = old.reduce((sum, one) => sum + (one.encrypted?.bytes ?? one.bytes + (one.files?.bytes ?? 0)), 0)
    if (!dry_run && old.length) {
      for (const { path } of old) await (isInBucket(path) ? bucketAt(path).remove() : rm(path, { recursive: true }))
      const metadata = { paths: old.map(({ path }) => path), bytes }
      const about = { entityType: 'settings', entityId: BACKUP } as const
      await store.write((tx) =>
        audit.record(tx, call, { action: 'operator.backups_pruned', ...about, input: { metadata } }),
      )
    }
    return { object: 'pruned_backups', removed: old, kept: all.length - old.length, bytes, unreachable }
  }

  /** Throws when the bucket does not respond. */
  async function manifestThere(path: string): Promise<Manifest | string> {
    const bucket = bucketAt(path)
    return (await bucket.exists()) ? manifestIn(await bucket.manifest()) : 'It no longer exists.'
  }

  async function onRecord(): Promise<string[]> {
    const made = { action: 'operator.backup_created', entity_type: 'settings', entity_id: BACKUP, limit: MAX }
    const { items } = await audit.list(store.read, 'server', made)
    return items.flatMap(({ inputSummary }) => {
      const { path } = (inputSummary.metadata ?? {}) as { path?: unknown }
      return typeof path === 'string' ? [path] : []
    })
  }
}
