import { join } from 'node:path'
import { createFolderPlace } from './places-folder'
import type { Place } from './places-place'
import { createS3Place } from './places-s3'

type Settings = {
  dataDir: string
  filesDir: string
  filesS3Bucket: string
  filesS3Endpoint: string
  filesS3Region: string
  filesS3AccessKeyId: string
  filesS3SecretAccessKey: string
}

/** The place that the settings name, and the folder where files are written before they are in it. */
export function createFilePlace(settings: Settings): { place: Place; incoming: string } {
  const folder = settings.filesDir || join(settings.dataDir, 'files')
  const incoming = join(folder, 'incoming')
  if (!settings.filesS3Bucket) return { place: createFolderPlace(folder), incoming }
  const place = createS3Place({
    bucket: settings.filesS3Bucket,
    endpoint: settings.filesS3Endpoint,
    region: settings.filesS3Region,
    accessKeyId: settings.filesS3AccessKeyId,
    secretAccessKey: settings.filesS3SecretAccessKey,
  })
  return { place, incoming }
}
