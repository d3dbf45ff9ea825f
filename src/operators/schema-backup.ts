import { nullable, type Static, Timestamp, t } from '../kernel/schema'

export const NewBackup = t.Object({
  out: t.Optional(
    t.String({
      minLength: 1,
      maxLength: 4_096,
      description: 'A folder that does not exist yet, or s3://bucket/folder',
    }),
  ),
  files: t.Optional(t.Boolean({ description: 'false: only the database; default: also the files that svc created' })),
  encrypt_to: t.Optional(
    t.Array(t.String({ pattern: '^age1[0-9a-z]{10,2200}$' }), {
      minItems: 1,
      maxItems: 20,
      description: 'age recipients; only the holder of one of their identities can open the backup',
    }),
  ),
})
export type NewBackup = Static<typeof NewBackup>

export const Backup = t.Object({
  object: t.Literal('backup'),
  path: t.String(),
  file: t.String(),
  bytes: t.Integer(),
  sha256: t.String(),
  files: nullable(
    t.Object({
      count: t.Integer(),
      bytes: t.Integer(),
      sha256: t.String({ description: 'SHA-256 of the list of files, `files.sha256`' }),
    }),
  ),
  encrypted: nullable(
    t.Object(
      { file: t.Literal('backup.tar.age'), bytes: t.Integer(), sha256: t.String(), to: t.Array(t.String()) },
      { description: 'The encrypted file with the whole backup, and the age recipients who can open it' },
    ),
  ),
  created: Timestamp,
})
export type Backup = Static<typeof Backup>

export const BackupList = t.Object({
  backups: t.Array(t.Object({ ...Backup.properties, version: t.String() })),
  unreachable: t.Array(t.Object({ path: t.String(), why: t.String() }), {
    description: 'Backups in buckets that did not answer now',
  }),
})

export type BackupList = Static<typeof BackupList>

/** Body of `POST /ops/v1/backups/prune`. */
export const BackupPruning = t.Object({
  older_than_ms: t.Integer({ minimum: 0, maximum: 3_650 * 86_400_000 }),
  dry_run: t.Optional(t.Boolean({ description: 'Only report what would be deleted' })),
})
export type BackupPruning = Static<typeof BackupPruning>

export const PrunedBackups = t.Object({
  object: t.Literal('pruned_backups'),
  removed: BackupList.properties.backups,
  kept: t.Integer(),
  bytes: t.Integer({ description: 'Total size of the deleted backups' }),
  unreachable: BackupList.properties.unreachable,
})
export type PrunedBackups = Static<typeof PrunedBackups>
