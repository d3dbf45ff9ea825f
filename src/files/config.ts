import { setting } from '../kernel/config'
import { form } from '../kernel/form'
import { t } from '../kernel/schema'

const S3 = 'of an S3 bucket to use instead of the folder'

/** Settings of the files module. */
export const fileSettings = {
  filesDir: setting({
    env: 'SVC_FILES_DIR',
    schema: t.String(),
    default: '',
    about:
      'Folder for stored files; defaults to files in the data folder. Nodes of a cluster share a folder or a bucket.',
  }),
  filesOwnerMb: setting({
    env: 'SVC_FILES_OWNER_MB',
    schema: t.Integer({ minimum: 1, maximum: 1_000_000_000 }),
    default: 10_240,
    about: 'Megabytes of files that one user or organization can store.',
  }),
  filesOwnerCount: setting({
    env: 'SVC_FILES_OWNER_COUNT',
    schema: t.Integer({ minimum: 1, maximum: 1_000_000_000 }),
    default: 100_000,
    about: 'Number of files that one user or organization can store.',
  }),
  filesRetentionDays: setting({
    env: 'SVC_FILES_RETENTION_DAYS',
    schema: t.Integer({ minimum: 0, maximum: 36_500 }),
    default: 0,
    about: 'Days after which a file is deleted; 0 keeps files until their owner deletes them.',
  }),
  filesS3Bucket: setting({ env: 'SVC_FILES_S3_BUCKET', schema: t.String(), default: '', about: `Name ${S3}.` }),
  filesS3Endpoint: setting({
    env: 'SVC_FILES_S3_ENDPOINT',
    schema: t.String({ pattern: form('^$|^https?://', 'an address that begins with https:// or http://, or empty') }),
    default: '',
    about: `Address ${S3}; by default that of the region.`,
  }),
  filesS3Region: setting({ env: 'SVC_FILES_S3_REGION', schema: t.String(), default: '', about: `Region ${S3}.` }),
  filesS3AccessKeyId: setting({
    env: 'SVC_FILES_S3_ACCESS_KEY_ID',
    schema: t.String(),
    default: '',
    about: `Id of the access key ${S3}.`,
  }),
  filesS3SecretAccessKey: setting({
    env: 'SVC_FILES_S3_SECRET_ACCESS_KEY',
    schema: t.String(),
    default: '',
    secret: true,
    about: `Secret of the access key ${S3}.`,
  }),
} as const
