import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError, invalidInput } from '../kernel/errors'
import { FOLDER, LIST, listedIn } from './backup-files'
import type { Backup } from './schema-backup'

/** The address and credentials of buckets. Files and backups use the same account. */
export type BucketSettings = {
  filesS3Endpoint: string
  filesS3Region: string
  filesS3AccessKeyId: string
  filesS3SecretAccessKey: string
}

/** A backup in a bucket; `at` is `s3://bucket/folder`. */
export type Bucket = ReturnType<typeof createBucket>

const PLACE = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/([\w.-]+(?:\/[\w.-]+)*)\/?$/
/** Written last and removed first, because a backup without a manifest does not count. */
const MANIFEST = 'manifest.json'
const PAGE = 1_000

export const isInBucket = (path: string): boolean => path.startsWith('s3://')

/**
 * The objects of one backup.
 * @throws AppError 400 for an invalid address, or without an access key
 */
export function createBucket(at: string, settings: BucketSettings) {
  const [, bucket, folder] = PLACE.exec(at) ?? []
  if (!bucket) throw invalidInput('out', `"${at.slice(0, 80)}" is not s3://bucket/folder.`)
  const { filesS3Endpoint: endpoint, filesS3Region: region, filesS3AccessKeyId: accessKeyId } = settings
  if (!accessKeyId) throw invalidInput('out', 'A bucket needs SVC_FILES_S3_ACCESS_KEY_ID and its secret.')
  const client = new Bun.S3Client({
    ...{ bucket, accessKeyId, secretAccessKey: settings.filesS3SecretAccessKey },
    ...(endpoint ? { endpoint } : {}),
    ...(region ? { region } : {}),
  })
  const keyOf = (name: string) => `${folder}/${name}`

  return {
    exists: () => reached(at, () => client.file(keyOf(MANIFEST)).exists()),

    manifest: () => reached(at, () => client.file(keyOf(MANIFEST)).text()),

    /** Uploads a finished backup. */
    async put(from: string, made: Parts): Promise<void> {
      for (const name of [...(await filesOf(from, made)), ...partsOf(made), MANIFEST])
        await reached(at, () => client.file(keyOf(name)).write(Bun.file(join(from, name))))
    },

    /** Downloads the whole backup into an empty folder, where it is checked like any other. */
    async bring(into: string, made: Parts): Promise<void> {
      const one = async (name: string) => {
        await mkdir(dirname(join(into, name)), { recursive: true, mode: 0o700 })
        await reached(at, () => Bun.write(join(into, name), new Response(client.file(keyOf(name)).stream())))
      }
      for (const name of [MANIFEST, ...partsOf(made)]) await one(name)
      for (const name of await filesOf(into, made)) await one(name)
    },

    async remove(): Promise<void> {
      await reached(at, () => client.file(keyOf(MANIFEST)).delete())
      for (;;) {
        const { contents = [] } = await reached(at, () => client.list({ prefix: keyOf(''), maxKeys: PAGE }))
        if (!contents.length) return
        for (const { key } of contents) await reached(at, () => client.file(key).delete())
      }
    },
  }
}

type Parts = Pick<Backup, 'file'> & Partial<Pick<Backup, 'files' | 'encrypted'>>

/** The parts of a backup, besides its manifest and the files in its list. */
const partsOf = ({ file, files, encrypted }: Parts): string[] =>
  encrypted ? [encrypted.file] : [file, ...(files ? [LIST] : [])]

const filesOf = async (folder: string, { files, encrypted }: Parts): Promise<string[]> =>
  files && !encrypted ? (await listedIn(folder)).map(({ path }) => join(FOLDER, path)) : []

async function reached<T>(at: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    const { code = 'no answer' } = error as { code?: string }
    throw new AppError('service_unavailable', `The bucket of ${at} refused the request (${code}).`)
  }
}
