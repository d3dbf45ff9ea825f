import type { Place } from './places-place'

type Bucket = { bucket: string; endpoint: string; region: string; accessKeyId: string; secretAccessKey: string }

const PREFIX = 'svc-files/'

/** Keeps files in a bucket, of whatever service has the usual interface for them. */
export function createS3Place({ endpoint, region, ...bucket }: Bucket): Place {
  const client = new Bun.S3Client({
    ...bucket,
    ...(endpoint ? { endpoint } : {}),
    ...(region ? { region } : {}),
  })
  const at = (name: string) => client.file(PREFIX + name)
  return {
    async put(name, draft) {
      await at(name).write(Bun.file(draft), { type: 'application/octet-stream' })
    },

    async open(name, { from, to }) {
      const file = at(name)
      if (!(await file.exists())) return null
      return file.slice(from, to).stream() as ReadableStream<Uint8Array>
    },

    remove: (name) => at(name).delete(),

    async *keptBefore(moment) {
      for (let startAfter: string | undefined; ; ) {
        const page = await client.list({ prefix: PREFIX, maxKeys: 1_000, ...(startAfter ? { startAfter } : {}) })
        const found = page.contents ?? []
        const old = found.filter(({ lastModified }) => Date.parse(String(lastModified)) < moment)
        if (old.length) yield old.map(({ key }) => key.slice(PREFIX.length))
        if (!page.isTruncated || !found.length) return
        startAfter = found.at(-1)!.key
      }
    },
  }
}
